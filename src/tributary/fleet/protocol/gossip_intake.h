#pragma once

#include <span>
#include <vector>

#include "tributary/fleet/protocol/active_round.h"

namespace tributary::inline protocol {

// A gossip round: devices with their own models average with their neighbours. Devices fetch models from each
// other directly. This class tells them who will not come, and relays models of unreachable devices.
//
// Called with the exchange's lock held.
class GossipIntake {
 public:
  // All references must outlive it. `id` names the meeting, `neighbours` has one entry per participant.
  GossipIntake(std::uint64_t id, std::span<const std::vector<NeighbourWeight>> neighbours,
               std::size_t model_bytes, ActiveRound& round, Sessions& sessions);

  MeetingPlan PlanFor(const Participant& participant) const;
  // Whether the device lacks the model from which it is to continue.
  bool NeedsWeights(const Session& session) const;
  // The session has been given its task: tells it who is absent, and which parts of its model others request.
  void Begin(Participant& participant, Session& session, DeferredCalls& calls);

  // Tells the neighbours of participants that will not come. False if there was nothing to tell.
  bool TellAbsent(DeferredCalls& calls);
  void MarkAbsent(Participant& participant, DeferredCalls& calls);
  bool IsAbsent(const Participant& participant) const { return PeerOf(participant).absent; }
  // Whether a device that has answered must repeat its work: it was disconnected since, so its offered model
  // may be lost, and a neighbour that has not answered may still need the model.
  bool NeededAgain(const Participant& participant) const;

  Status Handle(Session& session, const Relay& relay, DeferredCalls& calls);
  // Accepts relayed bytes only for this round's meeting.
  Status Handle(Session& session, const Relayed& relayed, ByteSpan values, DeferredCalls& calls);
  // Requests that were passed on to this session are open again.
  void Recall(const Session& session);

  Status CheckMet(const Participant& participant, const Answer& answer) const;
  // Records the met devices of an accepted answer, and the models that the device has now.
  void Report(Session& session, Participant& participant, const Answer& answer);
  std::uint64_t id() const { return id_; }

 private:
  struct Peer {
    std::vector<NeighbourWeight> meets;
    bool absent = false;  // and its neighbours have been told
  };
  Peer& PeerOf(const Participant& participant) { return peers_[round_.PlaceOf(participant)]; }
  const Peer& PeerOf(const Participant& participant) const { return peers_[round_.PlaceOf(participant)]; }
  bool Meets(const Participant& participant, DeviceId device) const;
  // Whether the participant is present or may return soon.
  bool IsAwaited(const Participant& participant) const;
  // The session that can be asked for this participant's model now; null if none.
  Session* Offering(const Participant& participant) const;
  // Passes open requests for this participant's model on to it.
  void Forward(const Participant& participant, DeferredCalls& calls);

  const std::uint64_t id_;
  const std::size_t model_bytes_;
  ActiveRound& round_;
  Sessions& sessions_;
  std::vector<Peer> peers_;  // per participant
};

// The error for a device that has met a device other than its neighbours.
Status NotToBeMet(const Met& met);

}  // namespace tributary::inline protocol
