#include "tributary/fleet/protocol/gossip_intake.h"

#include <algorithm>

namespace tributary::inline protocol {

// Limit, in multiples of a model's size, for a device that repeats a fetch because one side was interrupted.
constexpr std::size_t kMostFetched = 4;

GossipIntake::GossipIntake(std::uint64_t id, std::span<const std::vector<NeighbourWeight>> neighbours,
                           std::size_t model_bytes, ActiveRound& round, Sessions& sessions)
    : id_(id), model_bytes_(model_bytes), round_(round), sessions_(sessions) {
  for (const auto& meets : neighbours) peers_.push_back({meets});
}

MeetingPlan GossipIntake::PlanFor(const Participant& participant) const {
  MeetingPlan plan{.id = id_, .peers = {}};
  for (const NeighbourWeight& neighbour : PeerOf(participant).meets) {
    const Member& peer = sessions_.members().all()[neighbour.peer.value];
    plan.peers.push_back({neighbour.peer, peer.name, peer.advertised, peer.certificate, neighbour.weight});
  }
  return plan;
}

bool GossipIntake::NeedsWeights(const Session& session) const {
  const RoundId from{sessions_.members().all()[*session.member].applied_round};
  const auto& models = session.gossip.models;
  return from.value == 0 || std::ranges::find(models, from) == models.end();
}

void GossipIntake::Begin(Participant& participant, Session& session, DeferredCalls& calls) {
  PeerOf(participant).absent = false;
  for (const NeighbourWeight& neighbour : PeerOf(participant).meets) {
    if (IsAbsent(round_.Of(neighbour.peer))) sessions_.Send(session, {Absent{id_, neighbour.peer}}, calls);
  }
  Forward(participant, calls);
}

bool GossipIntake::Meets(const Participant& participant, DeviceId device) const {
  const auto& meets = PeerOf(participant).meets;
  return std::ranges::find(meets, device, &NeighbourWeight::peer) != meets.end();
}

Session* GossipIntake::Offering(const Participant& participant) const {
  Session* const session = sessions_.Of(participant.device().value);
  if (session == nullptr || !session->ready || session->left) return nullptr;
  const bool at_work = !participant.finished && participant.session == session;
  return participant.applied() || at_work ? session : nullptr;
}

bool GossipIntake::IsAwaited(const Participant& participant) const {
  if (participant.finished && !participant.applied()) return false;
  return !round_.IsGone(participant);
}

bool GossipIntake::NeededAgain(const Participant& participant) const {
  if (IsAbsent(participant) || !participant.applied()) return false;
  return std::ranges::any_of(PeerOf(participant).meets, [&](const NeighbourWeight& neighbour) {
    return !round_.Of(neighbour.peer).finished;
  });
}

bool GossipIntake::TellAbsent(DeferredCalls& calls) {
  const auto awaited = static_cast<std::size_t>(std::ranges::count_if(
      round_.participants(), [&](const Participant& participant) { return IsAwaited(participant); }));
  // If the quorum needs a device that is gone, the others wait until it is back.
  const bool enough = awaited >= round_.quorum();
  bool told = false;
  for (Participant& participant : round_.participants()) {
    if (IsAbsent(participant)) continue;
    const bool failed = participant.finished && !participant.applied();
    if (!failed && !(enough && !IsAwaited(participant))) continue;
    MarkAbsent(participant, calls);
    told = true;
  }
  return told;
}

void GossipIntake::MarkAbsent(Participant& participant, DeferredCalls& calls) {
  PeerOf(participant).absent = true;
  for (const NeighbourWeight& neighbour : PeerOf(participant).meets) {  // The relation is symmetric.
    Session* const other = round_.Of(neighbour.peer).session;
    if (other == nullptr) continue;
    other->task->relays->wanted.erase(participant.device());
    sessions_.Send(*other, {Absent{id_, participant.device()}}, calls);
  }
}

void GossipIntake::Forward(const Participant& participant, DeferredCalls& calls) {
  Session* const session = Offering(participant);
  if (session == nullptr) return;
  for (const NeighbourWeight& neighbour : PeerOf(participant).meets) {
    const Session* const other = round_.Of(neighbour.peer).session;
    if (other == nullptr) continue;
    auto& all = other->task->relays->wanted;
    const auto wanted = all.find(participant.device());
    if (wanted == all.end() || wanted->second.from != nullptr) continue;
    wanted->second.from = session;
    ++session->gossip.owed;
    sessions_.Send(*session, {Relay{id_, neighbour.peer, wanted->second.offset, wanted->second.bytes}},
                   calls);
  }
}

void GossipIntake::Recall(const Session& session) {
  for (const Participant& participant : round_.participants()) {
    if (participant.session == nullptr) continue;
    for (auto& [device, wanted] : participant.session->task->relays->wanted) {
      if (wanted.from == &session) wanted.from = nullptr;
    }
  }
}

Status GossipIntake::Handle(Session& session, const Relay& relay, DeferredCalls& calls) {
  if (!Meets(round_.Of(session), relay.device)) {
    return Refused("the device wants the model of device {}, which it does not meet", relay.device.value);
  }
  if (relay.offset > model_bytes_ || relay.bytes > model_bytes_ - relay.offset) {
    return Refused("the device requests bytes {} to {} of a model that has {}", relay.offset,
                   relay.offset + relay.bytes, model_bytes_);
  }
  RelayProgress& relays = *session.task->relays;
  if (relays.wanted.contains(relay.device) || relays.wanted.size() >= kMostFetches) {
    return WrongOrder("the device requests more models before it has what it asked for");
  }
  std::size_t& asked = relays.asked[relay.device];
  asked += relay.bytes;
  if (asked > kMostFetched * model_bytes_) {
    return ResourceExhausted("the device requests a neighbour's model again and again");
  }
  const Participant& peer = round_.Of(relay.device);
  if (IsAbsent(peer)) return OkStatus();  // The device has been told.
  relays.wanted[relay.device] = {relay.offset, relay.bytes, nullptr};
  Forward(peer, calls);
  return OkStatus();
}

Status GossipIntake::Handle(Session& session, const Relayed& relayed, ByteSpan values, DeferredCalls& calls) {
  const Participant* const place = round_.Find(relayed.device);
  if (place == nullptr) return InvalidArgument("the device relays to a device that is not in the round");
  Session* const asker = place->session;
  if (asker == nullptr) return OkStatus();
  RelayProgress& relays = *asker->task->relays;
  const DeviceId device{*session.member};
  const auto found = relays.wanted.find(device);
  // The device that asked may have reconnected since.
  if (found == relays.wanted.end() || found->second.from != &session ||
      found->second.offset != relayed.offset) {
    return OkStatus();
  }
  Participant& participant = round_.Of(device);
  if (values.empty()) {  // It was restarted and has lost that model.
    if (!IsAbsent(participant)) MarkAbsent(participant, calls);
    return OkStatus();
  }
  if (values.size() != found->second.bytes) {
    return Refused("the device relays {} bytes; {} were requested", values.size(), found->second.bytes);
  }
  relays.wanted.erase(found);
  const Bytes bytes{static_cast<std::int64_t>(values.size())};
  relays.relayed += bytes;
  asker->task->down += bytes;
  participant.report.up += bytes;
  auto copy = std::make_shared<const std::vector<std::byte>>(values.begin(), values.end());
  const ByteSpan span = *copy;
  sessions_.Send(*asker,
                 {Relayed{relayed.meeting, device, relayed.offset, relayed.version}, span, std::move(copy)},
                 calls);
  return OkStatus();
}

Status GossipIntake::CheckMet(const Participant& participant, const Answer& answer) const {
  for (const Met& met : answer.met) {
    const auto bytes = static_cast<std::size_t>(met.bytes);
    if (!Meets(participant, met.device)) return NotToBeMet(met);
    if (bytes > kMostFetched * model_bytes_)
      return Refused("the device has fetched {} bytes of a model of {}", bytes, model_bytes_);
  }
  return OkStatus();
}

Status NotToBeMet(const Met& met) {
  return Refused("the device has met device {}, which it was not to meet", met.device.value);
}

void GossipIntake::Report(Session& session, Participant& participant, const Answer& answer) {
  participant.report.met = static_cast<std::int64_t>(answer.met.size());
  for (const Met& met : answer.met) {
    participant.report.down += Bytes{met.bytes};
    round_.Of(met.device).report.up += Bytes{met.bytes};
  }
  // A device keeps this model, the previous one, and one that may be needed after a crash.
  const Member& member = sessions_.members().all()[*session.member];
  session.gossip.models = {round_.order().round, RoundId{member.applied_round},
                           RoundId{member.durable_round}};
}

}  // namespace tributary::inline protocol
