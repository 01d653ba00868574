#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/fleet/protocol/active_round.h"

namespace tributary::inline protocol {

// What goes over the cut of a network in one round. Devices' batches come in pieces and go to the coordinator's part of
// the network, whose replies go back; a device that comes again gets the replies that it had.
//
// Called with the exchange's lock held. Serve is for the thread that waits for events alone.
class SplitIntake {
 public:
  // Everything must outlive it.
  SplitIntake(SplitServer& server, const SplitWire& wire, ActiveRound& round, Sessions& sessions);

  SplitProgress NewProgress() const { return {.crossings = crossings_}; }
  Status Handle(Session& session, const Crossing& crossing, ByteSpan values, DeferredCalls& calls);

  struct Served {
    bool any = false;            // There was something to do.
    Session* refused = nullptr;  // whose batch the server has refused: it is to be closed
    Status status;               // the reason; without a session this machine's own, which ends the run
  };
  // Brings one batch that has come to the server; or, where replies need the batches of all and no other device is to be
  // waited for, has it reply to everybody. The lock is given up while it computes.
  Served Serve(Mutex& mutex, DeferredCalls& calls) TRIBUTARY_REQUIRES(mutex);

  // Of one that has been over the cut at every step, where only the server knows it.
  double LossOf(const Participant& participant) const;
  bool labels_travel() const { return wire_.labels_travel(); }

 private:
  // Whether the server has taken what came, and what it replied.
  struct Visit {
    bool taken = false;
    SharedBytes reply;
  };

  struct Batch {
    std::size_t place = 0;
    std::uint64_t ticket = 0;
    int crossing = 0;
    std::size_t samples = 0;
    std::vector<std::byte> bytes;
  };
  // A batch that has come, if any. One that came before from the same device is answered here.
  std::optional<Batch> NextBatch(DeferredCalls& calls);
  Served Taken(const Batch& batch, Status status, DeferredCalls& calls);
  // Whether no other device is to be waited for at this crossing.
  bool MayClose() const;
  // Those that are not there are too late. Returns the crossing.
  int BeginClose(DeferredCalls& calls);
  // Everybody gets a reply, or is refused.
  Served EndClose(int crossing, Status status, DeferredCalls& calls);

  std::size_t SamplesOver(const Participant& participant, int crossing) const;
  Visit& VisitOf(const Participant& participant, int crossing) {
    return visits_[round_.PlaceOf(participant)][static_cast<std::size_t>(crossing)];
  }
  bool HasTaken(const Participant& participant, int crossing) const {
    return visits_[round_.PlaceOf(participant)][static_cast<std::size_t>(crossing)].taken;
  }
  void GiveReply(Participant& participant, int crossing, DeferredCalls& calls);
  // Its part in the round is over before an update has come of it.
  void Dismiss(Participant& participant, Outcome outcome, const std::string& reason, DeferredCalls& calls);

  SplitServer& server_;
  const SplitWire& wire_;
  ActiveRound& round_;
  Sessions& sessions_;
  int crossings_ = 0;                       // of the round
  int closed_ = 0;                          // those that all have replies of
  std::vector<std::vector<Visit>> visits_;  // per participant and crossing
  std::deque<std::size_t> arrived_;         // participants whose batch has come
};

}  // namespace tributary::inline protocol
