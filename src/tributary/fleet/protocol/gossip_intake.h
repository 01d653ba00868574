#pragma once

#include <span>
#include <vector>

#include "tributary/fleet/protocol/active_round.h"

namespace tributary::inline protocol {

// A round in which devices that have models of their own meet their neighbours. Devices fetch models from each other;
// here they are told who will not come, and models of devices that cannot be reached are relayed.
//
// Called with the exchange's lock held.
class GossipIntake {
 public:
  // Everything must outlive it. `id` names the round's meeting; `meetings` is in the order of the participants; a model
  // has `model_bytes`.
  GossipIntake(std::uint64_t id, std::span<const std::vector<NeighbourWeight>> neighbours,
               std::size_t model_bytes, ActiveRound& round, Sessions& sessions);

  MeetingPlan PlanFor(const Participant& participant) const;
  // Whether the device has not the model that it is to go on from.
  bool NeedsWeights(const Session& session) const;
  // This session has been given its part: it is told who will not come, and what others want of it.
  void Begin(Participant& participant, Session& session, DeferredCalls& calls);

  // Tells those who wait for one that will not come. False if there was nothing to tell.
  bool TellAbsent(DeferredCalls& calls);
  void MarkAbsent(Participant& participant, DeferredCalls& calls);
  bool IsAbsent(const Participant& participant) const { return PeerOf(participant).absent; }
  // Whether one that has answered is to do it again: it was cut off since, what it offered may have gone with its process,
  // and a neighbour that has not answered may not have had it.
  bool NeededAgain(const Participant& participant) const;

  Status Handle(Session& session, const Relay& relay, DeferredCalls& calls);
  // What a session relays counts only in the round's own meeting.
  Status Handle(Session& session, const Relayed& relayed, ByteSpan values, DeferredCalls& calls);
  // What was passed on to this session comes from nowhere any more.
  void Recall(const Session& session);

  Status CheckMet(const Participant& participant, const Answer& answer) const;
  // Of an answer that was taken: whom the device has met, and which models it has now.
  void Report(Session& session, Participant& participant, const Answer& answer);

  std::uint64_t id() const { return id_; }

 private:
  struct Peer {
    std::vector<NeighbourWeight> meets;
    bool absent = false;  // and the others have been told
  };
  Peer& PeerOf(const Participant& participant) { return peers_[round_.PlaceOf(participant)]; }
  const Peer& PeerOf(const Participant& participant) const { return peers_[round_.PlaceOf(participant)]; }
  bool Meets(const Participant& participant, DeviceId device) const;
  // Whether it is there, or may be back in a moment.
  bool IsAwaited(const Participant& participant) const;
  // The session that can be asked for this participant's model now; null if none.
  Session* Offering(const Participant& participant) const;
  // Passes on what others want of this participant, and was not passed on yet.
  void Forward(const Participant& participant, DeferredCalls& calls);

  const std::uint64_t id_;
  const std::size_t model_bytes_;
  ActiveRound& round_;
  Sessions& sessions_;
  std::vector<Peer> peers_;  // per participant
};

// What is said to a device that has met one which was not among its neighbours.
Status NotToBeMet(const Met& met);

}  // namespace tributary::inline protocol
