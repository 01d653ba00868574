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

// What a coordinator has besides its sessions, the same in every round.
struct RoundContext {
  const ExchangeOptions& options;
  const ModelPieces& pieces;
  PlanBook& plans;
  const Clock& clock;
  double macs_per_sample = 0;  // forward
  std::uint64_t tickets = 0;   // given out so far
};

// What the coordinator and its devices say to each other about one order: gives the participants their work, takes what
// they send and judges their answers. What is special about a kind of work is done by its own part: UpdateIntake and
// MomentIntake for each task, SplitIntake and GossipIntake for the round.
//
// Called with the exchange's lock held, but for what says otherwise. Messages of a task have passed CheckWorking and
// find the round open.
class RoundProtocol {
 public:
  // Everything else must outlive it. `sink` may be null where no updates come.
  RoundProtocol(WorkOrder order, std::span<const DeviceProfile> devices, UpdateSink* sink,
                RoundContext& context, Sessions& sessions);
  RoundProtocol(const RoundProtocol&) = delete;
  RoundProtocol& operator=(const RoundProtocol&) = delete;

  ActiveRound& active() { return active_; }
  // The session has left: what others want of it comes from nowhere any more.
  void Recall(const Session& session);

  // Gives the session its part, if it has one that no other session works on.
  void Start(Session& session, DeferredCalls& calls);
  // What the session's task sends next, if anything.
  std::optional<OutgoingMessage> Next(Session& session);

  // The lock is given up while the piece is stored.
  Status Handle(Session& session, const Piece& piece, ByteSpan values, Mutex& mutex, DeferredCalls& calls)
      TRIBUTARY_REQUIRES(mutex);
  Status Handle(Session& session, const Samples& samples, ByteSpan values, Mutex&, DeferredCalls& calls);
  Status Handle(Session& session, const Crossing& crossing, ByteSpan values, Mutex&, DeferredCalls& calls);
  // Returns what plans can learn from the answer, if anything.
  StatusOr<std::optional<StepObservation>> Handle(Session& session, const Answer& answer,
                                                  DeferredCalls& calls);
  // These two may also be of a meeting that is over.
  Status Handle(Session& session, const Relay& relay, DeferredCalls& calls);
  Status Handle(Session& session, const Relayed& relayed, ByteSpan values, DeferredCalls& calls);
  // The device cannot do its task, or must not any longer; the task is still to be abandoned.
  void GiveUp(Session& session, Outcome outcome, std::string reason, DeferredCalls& calls);

  // Ends the task of a session that does not go on with it, if it has one, and takes back what came of it; then another
  // session of the device may begin. The lock is given up in between.
  void Abandon(Session& session, Mutex& mutex, DeferredCalls& calls) TRIBUTARY_REQUIRES(mutex);
  // Does what the caller is to do while it waits. False if there was nothing. The lock may be given up in between.
  bool Serve(Mutex& mutex, DeferredCalls& calls) TRIBUTARY_REQUIRES(mutex);
  // Of a round that is closed and not pinned: ends all tasks and takes back what came of them, without the lock. The
  // last call.
  RoundReport Finish(Mutex& mutex, DeferredCalls& calls) TRIBUTARY_REQUIRES(mutex);

 private:
  bool IsMeeting(std::uint64_t meeting) const {
    return active_.open() && gossip_ && gossip_->id() == meeting;
  }
  // Without the lock, of a round that is pinned. With a Status the sink's sum cannot be mended.
  Status TakeBack(Task& task, DeviceId device) {
    return task.update ? sink_->Discard(WorkOf(device)) : OkStatus();
  }
  Status CheckPiece(const Task& task, const Piece& piece) const;
  Task NewTask(const Session& session, const Participant& participant, bool weights);
  Status CheckAnswer(const Session& session, const Participant& participant, const Answer& answer) const;
  // It has answered before, and that counted; what its model is now, and what that took, is reported again.
  void AnswerAgain(Session& session, Participant& participant, const Answer& answer, DeferredCalls& calls);
  // The session's answer was taken, and its task is over.
  void EndTask(Session& session, Participant& participant, DeferredCalls& calls);
  std::size_t record_bytes() const;

  RoundContext& context_;
  Sessions& sessions_;
  UpdateSink* const sink_;
  ActiveRound active_;
  std::optional<SplitIntake> split_;    // of a network that is cut
  std::optional<GossipIntake> gossip_;  // of devices that meet
};

}  // namespace tributary::inline protocol
