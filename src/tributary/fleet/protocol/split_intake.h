#pragma once

#include <deque>
#include <optional>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/fleet/protocol/active_round.h"

namespace tributary::inline protocol {

// The split-point traffic of one round. Devices' batches arrive in parts and go to the split server, whose
// replies go back; a device that returns gets its earlier replies again.
//
// Called with the exchange's lock held; Serve only by the thread that waits for events.
class SplitIntake {
 public:
  // All references must outlive it.
  SplitIntake(SplitServer& server, const SplitWire& wire, ActiveRound& round, Sessions& sessions);

  SplitProgress NewProgress() const { return {.crossings = crossings_}; }
  Status Handle(Session& session, const Crossing& crossing, ByteSpan values, DeferredCalls& calls);

  struct Served {
    bool any = false;            // there was something to do
    Session* refused = nullptr;  // session whose batch the server refused; to be closed
    Status status;               // reason; without a session an error of this machine, which ends the run
  };
  // Passes one batch to the server. Or, if replies need all batches and no other device is awaited, makes the
  // server reply to all. Releases the lock during the computation.
  Served Serve(Mutex& mutex, DeferredCalls& calls) TRIBUTARY_REQUIRES(mutex);

  // Loss of a participant that has made all crossings, where only the server knows it.
  double LossOf(const Participant& participant) const;
  bool labels_travel() const { return wire_.labels_travel(); }

 private:
  // Whether the server has accepted the batch, and its reply.
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
  // The next batch for the server, if any. Repeated batches are answered here.
  std::optional<Batch> NextBatch(DeferredCalls& calls);
  Served Taken(const Batch& batch, Status status, DeferredCalls& calls);
  // Whether no other device is awaited at this crossing.
  bool MayClose() const;
  // Participants that have not arrived are too late. Returns the crossing.
  int BeginClose(DeferredCalls& calls);
  // Replies to all, or refuses them.
  Served EndClose(int crossing, Status status, DeferredCalls& calls);

  std::size_t SamplesOver(const Participant& participant, int crossing) const;
  Visit& VisitOf(const Participant& participant, int crossing) {
    return visits_[round_.PlaceOf(participant)][static_cast<std::size_t>(crossing)];
  }
  bool HasTaken(const Participant& participant, int crossing) const {
    return visits_[round_.PlaceOf(participant)][static_cast<std::size_t>(crossing)].taken;
  }
  void GiveReply(Participant& participant, int crossing, DeferredCalls& calls);
  // Ends the participant's part before any of its update has arrived.
  void Dismiss(Participant& participant, Outcome outcome, const std::string& reason, DeferredCalls& calls);

  SplitServer& server_;
  const SplitWire& wire_;
  ActiveRound& round_;
  Sessions& sessions_;
  int crossings_ = 0;                       // per participant
  int closed_ = 0;                          // number of crossings answered for all
  std::vector<std::vector<Visit>> visits_;  // per participant and crossing
  std::deque<std::size_t> arrived_;         // participants with a complete batch
};

}  // namespace tributary::inline protocol
