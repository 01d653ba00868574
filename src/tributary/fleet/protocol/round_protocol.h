#pragma once

#include <optional>
#include <span>
#include <string>

#include "tributary/base/mutex.h"
#include "tributary/fleet/protocol/active_round.h"
#include "tributary/fleet/protocol/gossip_intake.h"
#include "tributary/fleet/protocol/plan_book.h"
#include "tributary/fleet/protocol/split_intake.h"

namespace tributary::inline protocol {

// The coordinator's state that all rounds share.
struct RoundContext {
  const ExchangeOptions& options;
  const ModelPieces& pieces;
  PlanBook& plans;
  const Clock& clock;
  double macs_per_sample = 0;  // forward
  std::uint64_t tickets = 0;   // last ticket issued
};

// The protocol of one order: gives the participants their work, accepts what they send and checks their
// answers. Uses UpdateIntake and MomentIntake per task, and SplitIntake and GossipIntake per round.
//
// Called with the exchange's lock held unless stated otherwise. Messages of tasks have passed CheckWorking.
class RoundProtocol {
 public:
  // All references must outlive it. `sink` may be null if no updates will come.
  RoundProtocol(WorkOrder order, std::span<const DeviceProfile> devices, UpdateSink* sink,
                RoundContext& context, Sessions& sessions);
  RoundProtocol(const RoundProtocol&) = delete;
  RoundProtocol& operator=(const RoundProtocol&) = delete;

  ActiveRound& active() { return active_; }
  // The session has left: requests that were passed on to it are open again.
  void Recall(const Session& session);

  // Gives the session its task, if it has one that no other session works on.
  void Start(Session& session, DeferredCalls& calls);
  std::optional<OutgoingMessage> Next(Session& session);

  // Releases the lock while the piece is stored.
  Status Handle(Session& session, const Piece& piece, ByteSpan values, Mutex& mutex, DeferredCalls& calls)
      TRIBUTARY_REQUIRES(mutex);
  Status Handle(Session& session, const Samples& samples, ByteSpan values, Mutex&, DeferredCalls& calls);
  Status Handle(Session& session, const Crossing& crossing, ByteSpan values, Mutex&, DeferredCalls& calls);
  // Returns what the planner can learn from the answer, if anything.
  StatusOr<std::optional<StepObservation>> Handle(Session& session, const Answer& answer,
                                                  DeferredCalls& calls);
  // These two may also belong to an earlier meeting.
  Status Handle(Session& session, const Relay& relay, DeferredCalls& calls);
  Status Handle(Session& session, const Relayed& relayed, ByteSpan values, DeferredCalls& calls);
  // The device cannot, or may not, go on with its task. Abandon must follow.
  void GiveUp(Session& session, Outcome outcome, std::string reason, DeferredCalls& calls);

  // Ends the session's task and discards its pieces; starts the device's next session. Releases the lock.
  void Abandon(Session& session, Mutex& mutex, DeferredCalls& calls) TRIBUTARY_REQUIRES(mutex);
  // Does pending work on the caller's thread. False if there was none. May release the lock temporarily.
  bool Serve(Mutex& mutex, DeferredCalls& calls) TRIBUTARY_REQUIRES(mutex);
  // Closed, unpinned rounds only: ends all tasks and discards their pieces without the lock. The last call.
  RoundReport Finish(Mutex& mutex, DeferredCalls& calls) TRIBUTARY_REQUIRES(mutex);

 private:
  bool IsMeeting(std::uint64_t meeting) const {
    return active_.open() && gossip_ && gossip_->id() == meeting;
  }
  // Called without the lock on a pinned round. With a Status the sink's sum is unusable.
  Status TakeBack(Task& task, DeviceId device) {
    return task.update ? sink_->Discard(WorkOf(device)) : OkStatus();
  }
  Status CheckPiece(const Task& task, const Piece& piece) const;
  Task NewTask(const Session& session, const Participant& participant, bool weights);
  Status CheckAnswer(const Session& session, const Participant& participant, const Answer& answer) const;
  // For a device whose earlier answer counts: charges the repeated work and records its new model.
  void AnswerAgain(Session& session, Participant& participant, const Answer& answer, DeferredCalls& calls);
  // Ends the task of an accepted answer.
  void EndTask(Session& session, Participant& participant, DeferredCalls& calls);
  std::size_t record_bytes() const;

  RoundContext& context_;
  Sessions& sessions_;
  UpdateSink* const sink_;
  ActiveRound active_;
  std::optional<SplitIntake> split_;    // split networks
  std::optional<GossipIntake> gossip_;  // gossip
};

}  // namespace tributary::inline protocol
