#include "tributary/fleet/remote/local_work.h"

namespace tributary::remote {

static_assert(kMostMeetingWeight <= ModelMix::kMostWeight);

Status LocalWork::RecallOwn(const Assignment& assignment) {
  const RoundId from = assignment.state_round;
  if (const Status status = gossip_->Load(state_, from); !status.ok()) options_.say(status.message());
  if (gossip_->Has(from)) return OkStatus();
  return NotFound("the device's own model after round " + std::to_string(from.value) +
                  " is not here any more");
}

StatusOr<Worker::Trained> LocalWork::TrainOwn(const TrainAssignment& train, const Assignment& assignment,
                                              Transfers& transfers, TrainHooks hooks) {
  const Status recalled = RecallOwn(assignment);
  if (assignment.without_weights) {
    TRIBUTARY_RETURN_IF_ERROR(recalled);
  } else {
    TRIBUTARY_RETURN_IF_ERROR(transfers.AwaitAll());
    if (!recalled.ok() && assignment.state_round.value > 0) {
      options_.say(recalled.message() + "; going on from the coordinator's");
    }
  }
  (void)gossip_->Begin(assignment.round, assignment.state_round, weights());
  TRIBUTARY_ASSIGN_OR_RETURN(Worker::Trained trained, gossip_->Train(*worker_, train, welcome_->device,
                                                                     samples_.data, std::move(hooks)));
  TRIBUTARY_RETURN_IF_ERROR(transfers.Offer(gossip_->offered()));
  return trained;
}

Status LocalWork::Meet(const Assignment& assignment, Transfers& transfers, Answer& answer) {
  const TimePoint begun = clock_.Now();
  double most = 0;
  for (const MeetingPeer& peer : assignment.meeting->peers) most += peer.weight;
  mix_->Begin(most);
  TRIBUTARY_ASSIGN_OR_RETURN(answer.met, transfers.Meet([&](double weight, const SharedWeights& model) {
    return mix_->Add(weight, model);
  }));
  answer.meet_seconds = ToSeconds(clock_.Now() - begun);
  TRIBUTARY_RETURN_IF_ERROR(gossip_->End(*mix_));
  // Before the answer: once that is taken, this round counts.
  return gossip_->Save(state_, assignment.durable_round);
}

Status LocalWork::PushOwn(const Assignment& assignment, Transfers& transfers) {
  if (!gossip_) return InvalidArgument("the devices of this experiment have no models of their own");
  TRIBUTARY_RETURN_IF_ERROR(RecallOwn(assignment));
  const SharedWeights own = gossip_->After(assignment.state_round);
  TRIBUTARY_RETURN_IF_ERROR(transfers.Push(Array::kParameters, std::as_bytes(own.parameters), 1));
  return transfers.Push(Array::kStatistics, std::as_bytes(own.statistics), 1);
}

}  // namespace tributary::remote
