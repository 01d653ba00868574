#include "tributary/fleet/protocol/round_protocol.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/base/log.h"
#include "tributary/base/rng.h"
#include "tributary/data/record.h"
#include "tributary/fleet/protocol/answer_report.h"

namespace tributary::inline protocol {
namespace {

// How often a device may begin its work of a round, after losing its connection: bounds the bytes that one device can move
// in a round.
constexpr int kMostStarts = 50;

// Of a device's held-out samples together, so that the sum over all devices is finite.
constexpr double kLargestLoss = 1e30;

}  // namespace

RoundProtocol::RoundProtocol(WorkOrder order, std::span<const DeviceProfile> devices, UpdateSink* sink,
                             RoundContext& context, Sessions& sessions)
    : context_(context),
      sessions_(sessions),
      sink_(sink),
      active_(std::move(order), devices, context.options, sessions, context.clock) {
  const WorkOrder& mine = active_.order();
  TRIBUTARY_CHECK(mine.server == nullptr || context.options.cut);
  TRIBUTARY_CHECK(mine.neighbours.empty() || mine.neighbours.size() == mine.participants.size());
  if (mine.server != nullptr) split_.emplace(*mine.server, *context.options.cut, active_, sessions);
  if (!mine.neighbours.empty()) {
    const std::uint64_t id =
        Rng::ForStream(context.options.incarnation, DeviceId{0}, "meeting", mine.round.value).Next();
    gossip_.emplace(id, mine.neighbours, context.pieces.bytes(), active_, sessions);
  }
}

std::size_t RoundProtocol::record_bytes() const {
  return context_.options.shared ? RecordBytes(*context_.options.shared) : 0;
}

Task RoundProtocol::NewTask(const Session& session, const Participant& participant, bool weights) {
  const ExchangeOptions& options = context_.options;
  Task task;
  task.ticket = ++context_.tickets;
  task.begun = task.progressed = context_.clock.Now();
  const auto* const train = std::get_if<TrainAssignment>(&participant.work);
  const bool planned = train != nullptr && !gossip_;
  task.plan = planned ? context_.plans.PlanFor(*session.member, *train,
                                               sessions_.members()[*session.member].profile.samples)
                      : StepPlan{context_.pieces.Whole(), context_.pieces.Whole(), 0};
  if (weights) task.delivery.weights = context_.pieces.Outgoing(task.plan.pull);
  if (train != nullptr) task.delivery.samples = sessions_.members().SharedWith(*session.member);
  if (participant.share > 0) {
    task.samples.emplace(*options.shared, participant.share, options.welcome.mean, options.welcome.deviation);
  }
  if (planned || active_.collects()) {
    task.update.emplace(*options.model, context_.pieces, task.plan.push,
                        UpdateIntake::Rules{participant.most_weight, active_.collects(), options.codec.get(),
                                            options.welcome.piece_floats});
  }
  if (!gossip_) {  // Where devices meet, one waits for another.
    const auto* const calibrate = std::get_if<CalibrateAssignment>(&participant.work);
    task.patience = active_.PatienceFor(
        participant, calibrate != nullptr
                         ? static_cast<double>(calibrate->steps) * static_cast<double>(calibrate->batch)
                     : train != nullptr ? participant.most_weight
                                        : static_cast<double>(session.held_out));
  }
  if (active_.calibrates()) task.moments.emplace(context_.pieces);
  if (split_) task.cut = split_->NewProgress();
  if (gossip_) task.relays.emplace();
  return task;
}

void RoundProtocol::Start(Session& session, DeferredCalls& calls) {
  if (!active_.open() || !session.ready || session.left || session.task) return;
  Participant* const participant = active_.Find(DeviceId{*session.member});
  // While an earlier connection's pieces are being discarded this one waits; Abandon calls Start again.
  if (participant == nullptr || participant->session != nullptr || participant->retracting) return;
  if (participant->finished && !(gossip_ && gossip_->NeededAgain(*participant))) return;
  if (++participant->starts > kMostStarts) {
    if (!participant->finished)
      active_.Finish(*participant, Outcome::kRefused,
                     fmt::format("it began its work of the round more than {} times", kMostStarts), calls);
    return;
  }
  participant->session = &session;
  participant->begun = true;
  const bool weights = gossip_ ? gossip_->NeedsWeights(session) : !active_.collects();
  session.task = std::make_unique<Task>(NewTask(session, *participant, weights));
  std::size_t received = 0;
  for (const auto& records : session.task->delivery.samples) received += records->size() / record_bytes();
  sessions_.SetDoing(session, weights ? Doing::kPulling : Doing::kComputing);
  const Member& member = sessions_.members()[*session.member];
  Assignment assignment{session.task->ticket,
                        active_.order().round,
                        participant->work,
                        EndsOf(session.task->plan.pull),
                        EndsOf(session.task->plan.push),
                        RoundId{member.applied_round},
                        RoundId{member.durable_round},
                        member.applied_position,
                        member.durable_position,
                        participant->share,
                        received,
                        active_.TimeLeft()};
  assignment.without_weights = !weights;
  if (gossip_) assignment.meeting = gossip_->PlanFor(*participant);
  Log(LogLevel::kDebug,
      fmt::format("device {}: work of round {} sent", *session.member, assignment.round.value));
  sessions_.Send(session, {std::move(assignment)}, calls);
  if (gossip_) gossip_->Begin(*participant, session, calls);
}

std::optional<OutgoingMessage> RoundProtocol::Next(Session& session) {
  if (!session.task || session.left || !active_.open()) return std::nullopt;
  auto message = session.task->Next(active_.order().weights, record_bytes());
  if (message) session.task->progressed = context_.clock.Now();
  if (message && session.task->Supplied()) sessions_.SetDoing(session, Doing::kComputing);
  return message;
}

Status RoundProtocol::CheckPiece(const Task& task, const Piece& piece) const {
  if (IsUpdate(piece) ? !task.update : !task.moments) {
    return InvalidArgument("the device sends an array that it was not asked for");
  }
  if (task.cut && !task.cut->done()) {
    return WrongOrder("the device sends an update before its last crossing");
  }
  return OkStatus();
}

Status RoundProtocol::Handle(Session& session, const Piece& piece, ByteSpan values, Mutex& mutex,
                             DeferredCalls& calls) {
  Task& task = *session.task;
  TRIBUTARY_RETURN_IF_ERROR(CheckPiece(task, piece));
  TRIBUTARY_RETURN_IF_ERROR(task.update ? task.update->Note(piece, values, context_.clock.Now())
                                        : task.moments->Note(piece, values));
  task.up += Bytes{static_cast<std::int64_t>(values.size())};
  task.progressed = context_.clock.Now();
  sessions_.SetDoing(session, Doing::kPushing);
  const DeviceId device{*session.member};
  active_.Pin();
  session.busy = true;
  mutex.Unlock();
  const Status status =
      task.update ? task.update->Store(device, piece, values, *sink_) : task.moments->Store(piece, values);
  mutex.Lock();
  session.busy = false;
  active_.Unpin(calls);
  if (status.code() == StatusCode::kIoError) {  // The fault of this machine; none of the device's business.
    active_.Fail(status, calls);
  } else if (!session.left) {
    return status;
  }
  if (!session.left) return OkStatus();
  // The session was replaced meanwhile, and its task could not be ended before now.
  Abandon(session, mutex, calls);
  return OkStatus();
}

Status RoundProtocol::Handle(Session& session, const Samples&, ByteSpan values, Mutex&, DeferredCalls&) {
  Task& task = *session.task;
  if (!task.samples) return InvalidArgument("the device sends samples that were not requested");
  TRIBUTARY_RETURN_IF_ERROR(task.samples->Take(values));
  task.progressed = context_.clock.Now();
  const Bytes bytes{static_cast<std::int64_t>(values.size())};
  task.up += bytes;
  task.injected += bytes;
  return OkStatus();
}

Status RoundProtocol::Handle(Session& session, const Crossing& crossing, ByteSpan values, Mutex&,
                             DeferredCalls& calls) {
  if (!split_) return WrongOrder("the device sends a crossing, but the network is not split");
  session.task->progressed = context_.clock.Now();
  return split_->Handle(session, crossing, values, calls);
}

Status RoundProtocol::CheckAnswer(const Session& session, const Participant& participant,
                                  const Answer& answer) const {
  if (!session.task->Complete()) return WrongOrder("the device ends its answer before all of it has come");
  if (active_.trains() ? static_cast<double>(answer.samples) > participant.most_weight
                       : answer.samples > session.held_out) {
    return Refused("the device counts {} samples, more than it has", answer.samples);
  }
  if (active_.trains()) {
    std::int64_t received = 0;
    for (const auto& records : session.task->delivery.samples)
      received += static_cast<std::int64_t>(records->size() / record_bytes());
    TRIBUTARY_RETURN_IF_ERROR(CheckStream(answer, received, sessions_.members()[*session.member]));
    TRIBUTARY_RETURN_IF_ERROR(CheckKept(answer, context_.options.menu));
  }
  if (gossip_) return gossip_->CheckMet(participant, answer);
  return answer.met.empty() ? OkStatus() : NotToBeMet(answer.met.front());
}

StatusOr<std::optional<StepObservation>> RoundProtocol::Handle(Session& session, const Answer& answer,
                                                               DeferredCalls& calls) {
  Participant& participant = active_.Of(session);
  TRIBUTARY_RETURN_IF_ERROR(CheckAnswer(session, participant, answer));
  if (participant.finished) {
    AnswerAgain(session, participant, answer, calls);
    return std::optional<StepObservation>();
  }
  Task& task = *session.task;
  if (task.update) {
    Status status = sink_->Commit(WorkOf(participant.device()), task.update->weight());
    if (!status.ok()) active_.Fail(std::move(status), calls);
  }
  const bool trains = active_.trains();
  DeviceReport& report = participant.report;
  StepObservation seen =
      DescribeAnswer(task, answer, context_.clock.Now(), trains, context_.plans.unit_bytes(), report);
  report.metrics = {answer.samples, answer.loss, answer.correct};
  report.kept = answer.kept;
  if (split_ && split_->labels_travel()) report.metrics.loss = split_->LossOf(participant);
  participant.totals = {answer.samples, std::min(answer.loss, kLargestLoss), answer.correct};
  if (task.moments) participant.moments = task.moments->Take();
  if (task.samples) participant.shared = std::move(*task.samples).Records();
  LearnFromAnswer(task, answer, context_.clock.Now() - task.begun, report, seen, trains,
                  context_.macs_per_sample, *session.member, sessions_.members());
  ActiveRound::Charge(participant, task);
  if (gossip_) gossip_->Report(session, participant, answer);
  if (trains) sessions_.members()[*session.member].answered_round = active_.order().round.value;
  Log(LogLevel::kDebug,
      fmt::format("device {}: work of round {} complete", *session.member, active_.order().round.value));
  active_.Finish(participant, Outcome::kApplied, "", calls);
  EndTask(session, participant, calls);
  return trains && !gossip_ ? std::optional(std::move(seen)) : std::nullopt;
}

void RoundProtocol::AnswerAgain(Session& session, Participant& participant, const Answer& answer,
                                DeferredCalls& calls) {
  ActiveRound::Charge(participant, *session.task);
  gossip_->Report(session, participant, answer);
  EndTask(session, participant, calls);
}

void RoundProtocol::EndTask(Session& session, Participant& participant, DeferredCalls& calls) {
  participant.session = nullptr;
  sessions_.SetDoing(session, Doing::kWaiting);
  sessions_.Send(session, {Verdict{session.task->ticket, Verdict::Outcome::kTaken, ""}}, calls);
  session.task.reset();
}

void RoundProtocol::GiveUp(Session& session, Outcome outcome, std::string reason, DeferredCalls& calls) {
  Participant& participant = active_.Of(session);
  if (!participant.finished) {
    Log(LogLevel::kDebug, fmt::format("device {}: work of round {} given up: {}", *session.member,
                                      active_.order().round.value, reason));
    active_.Finish(participant, outcome, std::move(reason), calls);
  } else if (gossip_ && !gossip_->IsAbsent(participant)) {
    // It was repeating its work for its neighbours; its earlier answer still counts.
    gossip_->MarkAbsent(participant, calls);
  }
}

Status RoundProtocol::Handle(Session& session, const Relay& relay, DeferredCalls& calls) {
  // Messages left over from an ended round are no mistake of the device, but their rate is limited.
  if (!session.task || !IsMeeting(relay.meeting)) return sessions_.Pace(session);
  return gossip_->Handle(session, relay, calls);
}

Status RoundProtocol::Handle(Session& session, const Relayed& relayed, ByteSpan values,
                             DeferredCalls& calls) {
  return IsMeeting(relayed.meeting) ? gossip_->Handle(session, relayed, values, calls) : OkStatus();
}

void RoundProtocol::Recall(const Session& session) {
  if (gossip_) gossip_->Recall(session);
}

void RoundProtocol::Abandon(Session& session, Mutex& mutex, DeferredCalls& calls) {
  const std::unique_ptr<Task> task = std::move(session.task);
  if (!task) return;
  const DeviceId device{*session.member};
  Participant& participant = active_.Of(device);
  participant.session = nullptr;
  participant.retracting = true;
  active_.Pin();
  mutex.Unlock();
  Status status = TakeBack(*task, device);
  mutex.Lock();
  participant.retracting = false;
  ActiveRound::Charge(participant, *task);
  if (!status.ok()) active_.Fail(std::move(status), calls);
  if (Session* const successor = sessions_.Of(device.value)) Start(*successor, calls);
  active_.Unpin(calls);
}

bool RoundProtocol::Serve(Mutex& mutex, DeferredCalls& calls) {
  if (gossip_) return gossip_->TellAbsent(calls);
  if (!split_) return false;
  SplitIntake::Served served = split_->Serve(mutex, calls);
  if (Session* const refused = served.refused) {
    calls.Close(refused->connection, std::move(served.status));
    if (!sessions_.Leave(*refused, calls)) return true;
    if (!refused->busy) Abandon(*refused, mutex, calls);
  } else if (!served.status.ok()) {
    active_.Fail(std::move(served.status), calls);
  }
  return served.any;
}

RoundReport RoundProtocol::Finish(Mutex& mutex, DeferredCalls& calls) {
  const TimePoint end = context_.clock.Now();
  const std::vector<std::unique_ptr<Task>> late = active_.EndTasks(calls);
  // No other thread refers to these tasks any more, and no task begins.
  mutex.Unlock();
  Status failure;
  for (std::size_t i = 0; i < late.size(); ++i) {
    if (!late[i]) continue;
    Status status = TakeBack(*late[i], active_.order().participants[i]);
    if (!status.ok()) failure = std::move(status);
  }
  mutex.Lock();
  if (!failure.ok()) active_.Fail(std::move(failure), calls);
  return active_.TakeResults(end);
}

}  // namespace tributary::inline protocol
