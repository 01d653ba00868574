#include <algorithm>

#include "tributary/fleet/remote/exchange_parts.h"

namespace tributary::remote {
namespace {

// A device that fetches a model again, because it or its neighbour was interrupted, has so many times its size.
constexpr std::size_t kMostFetched = 4;

}  // namespace

MeetingPlan Exchange::PlanOfMeeting(const Slot& slot) const {
  MeetingPlan plan{.id = question_->meeting, .peers = {}};
  for (const Meeting& meeting : slot.meets) {
    const Member& peer = members_.all()[meeting.peer.value];
    plan.peers.push_back({meeting.peer, peer.name, peer.advertised, peer.certificate, meeting.weight});
  }
  return plan;
}

bool Exchange::NeedsWeights(const Session& session) const {
  if (question_->collects()) return false;
  if (!question_->meets) return true;
  const RoundId from{members_.all()[*session.member].applied_round};
  return from.value == 0 || std::ranges::find(session.models, from) == session.models.end();
}

void Exchange::BeginMeeting(Slot& slot, Session& session, Errands& errands) {
  slot.absent = false;
  for (const Meeting& meeting : slot.meets) {
    if (question_->slots[question_->slot_of.at(meeting.peer)].absent) {
      Send(session, Absent{question_->meeting, meeting.peer}, 0, errands);
    }
  }
  ForwardRelays(slot, errands);
}

Exchange::Session* Exchange::Offering(const Slot& slot) const {
  Session* const session = session_of_[slot.result.report.device.value];
  if (session == nullptr || !session->ready || session->left) return nullptr;
  const bool applied = slot.settled && slot.result.report.outcome == Outcome::kApplied;
  return applied || (!slot.settled && slot.session == session) ? session : nullptr;
}

bool Exchange::IsAwaited(const Slot& slot, TimePoint now) const {
  if (slot.settled && slot.result.report.outcome != Outcome::kApplied) return false;
  const Member& member = members_.all()[slot.result.report.device.value];
  return member.doing != Doing::kGone || now - member.since < options_.grace;
}

bool Exchange::WillNotCome(const Slot& slot, TimePoint now, std::size_t awaited) const {
  if (slot.settled && slot.result.report.outcome != Outcome::kApplied) return true;
  // Where the round needs it, the others wait until it is back.
  return !IsAwaited(slot, now) && awaited >= question_->inquiry->quorum;
}

bool Exchange::NeededAgain(const Slot& slot) const {
  if (!question_->meets || slot.absent || slot.result.report.outcome != Outcome::kApplied) return false;
  return std::ranges::any_of(slot.meets, [&](const Meeting& meeting) {
    return !question_->slots[question_->slot_of.at(meeting.peer)].settled;
  });
}

void Exchange::AnswerAgain(Session& session, Slot& slot, const Answer& answer, Errands& errands) {
  Charge(slot, *session.task);
  ReportMeeting(session, slot, answer);
  slot.session = nullptr;
  members_.Set(*session.member, Doing::kWaiting, clock_.Now());
  Send(session, Verdict{session.task->ticket, Verdict::Outcome::kTaken, ""}, 0, errands);
  session.task.reset();
}

bool Exchange::TellAbsent(Lock& lock) {
  if (!question_->meets) return false;
  const TimePoint now = clock_.Now();
  const auto awaited = static_cast<std::size_t>(
      std::ranges::count_if(question_->slots, [&](const Slot& slot) { return IsAwaited(slot, now); }));
  bool told = false;
  {
    Errands errands;  // Run without the lock.
    for (Slot& slot : question_->slots) {
      if (slot.absent || !WillNotCome(slot, now, awaited)) continue;
      MarkAbsent(slot, errands);
      told = true;
    }
    if (!told) return false;
    lock.unlock();
  }
  lock.lock();
  return true;
}

void Exchange::MarkAbsent(Slot& slot, Errands& errands) {
  slot.absent = true;
  const DeviceId gone = slot.result.report.device;
  for (const Meeting& meeting : slot.meets) {  // Who meets whom is mutual.
    const Slot& other = question_->slots[question_->slot_of.at(meeting.peer)];
    if (other.session == nullptr || !other.session->task) continue;
    other.session->task->wanted.erase(gone);
    Send(*other.session, Absent{question_->meeting, gone}, 0, errands);
  }
}

void Exchange::ForwardRelays(const Slot& slot, Errands& errands) {
  Session* const session = Offering(slot);
  if (session == nullptr) return;
  for (const Meeting& meeting : slot.meets) {
    const Slot& other = question_->slots[question_->slot_of.at(meeting.peer)];
    if (other.session == nullptr || !other.session->task) continue;
    const auto wanted = other.session->task->wanted.find(slot.result.report.device);
    if (wanted == other.session->task->wanted.end() || wanted->second.from != nullptr) continue;
    wanted->second.from = session;
    ++session->owed;
    Send(*session, Relay{question_->meeting, meeting.peer, wanted->second.offset, wanted->second.bytes}, 0,
         errands);
  }
}

void Exchange::RecallRelays(const Session& session) {
  for (const Slot& slot : question_->slots) {
    if (slot.session == nullptr || !slot.session->task) continue;
    for (auto& [device, wanted] : slot.session->task->wanted) {
      if (wanted.from == &session) wanted.from = nullptr;
    }
  }
}

Status Exchange::Handle(Session& session, const Relay& relay, ByteSpan) {
  Errands errands;
  const Lock lock(mutex_);
  if (session.left) return OkStatus();
  // What a round that is over has left on its way is nobody's fault, but there is little of it.
  if (!session.task || !question_->open || !question_->meets || question_->meeting != relay.meeting)
    return Pace(session);
  const Slot& slot = SlotOf(session);
  if (std::ranges::find(slot.meets, relay.device, &Meeting::peer) == slot.meets.end()) {
    return InvalidArgument("the device wants the model of device " + std::to_string(relay.device.value) +
                           ", which it does not meet");
  }
  if (relay.offset > ModelBytes() || relay.bytes > ModelBytes() - relay.offset) {
    return InvalidArgument("the device wants bytes " + std::to_string(relay.offset) + " to " +
                           std::to_string(relay.offset + relay.bytes) + " of a model that has " +
                           std::to_string(ModelBytes()));
  }
  Task& task = *session.task;
  if (task.wanted.contains(relay.device) || task.wanted.size() >= kMostFetches) {
    return WrongOrder("the device wants more of its neighbours before it has what it asked for");
  }
  std::size_t& asked = task.asked[relay.device];
  asked += relay.bytes;
  if (asked > kMostFetched * ModelBytes()) {
    return ResourceExhausted("the device wants a neighbour's model again and again");
  }
  const Slot& peer = question_->slots[question_->slot_of.at(relay.device)];
  if (peer.absent) return OkStatus();  // It has been told.
  task.wanted[relay.device] = {relay.offset, relay.bytes, nullptr};
  ForwardRelays(peer, errands);
  return OkStatus();
}

Status Exchange::Handle(Session& session, const Relayed& relayed, ByteSpan values) {
  Errands errands;
  const Lock lock(mutex_);
  if (session.left) return OkStatus();
  if (session.owed == 0) return WrongOrder("the device relays what nobody has asked for");
  --session.owed;
  if (values.size() > kMostRelayBytes)
    return InvalidArgument("the device relays " + std::to_string(values.size()) + " bytes");
  if (!question_ || !question_->open || !question_->meets || question_->meeting != relayed.meeting)
    return OkStatus();
  const auto place = question_->slot_of.find(relayed.device);
  if (place == question_->slot_of.end())
    return InvalidArgument("the device relays for one that is not there");
  Session* const asker = question_->slots[place->second].session;
  if (asker == nullptr || !asker->task) return OkStatus();
  const DeviceId device{*session.member};
  const auto found = asker->task->wanted.find(device);
  // The one that asked may have come anew since.
  if (found == asker->task->wanted.end() || found->second.from != &session ||
      found->second.offset != relayed.offset) {
    return OkStatus();
  }
  Slot& slot = question_->slots[question_->slot_of.at(device)];
  if (values.empty()) {  // It was started anew since it had that model.
    if (!slot.absent) MarkAbsent(slot, errands);
    return OkStatus();
  }
  if (values.size() != found->second.bytes) {
    return InvalidArgument("the device relays " + std::to_string(values.size()) + " bytes, where " +
                           std::to_string(found->second.bytes) + " were asked for");
  }
  asker->task->wanted.erase(found);
  asker->task->relayed += Bytes{static_cast<std::int64_t>(values.size())};
  asker->task->down += Bytes{static_cast<std::int64_t>(values.size())};
  slot.result.report.up += Bytes{static_cast<std::int64_t>(values.size())};
  Send(*asker, Relayed{relayed.meeting, device, relayed.offset, relayed.version}, 0, errands);
  asker->outbox.back().values = std::make_shared<const std::vector<std::byte>>(values.begin(), values.end());
  return OkStatus();
}

Status Exchange::CheckMet(const Slot& slot, const Answer& answer) const {
  for (const Met& met : answer.met) {
    const auto bytes = static_cast<std::size_t>(met.bytes);
    if (std::ranges::find(slot.meets, met.device, &Meeting::peer) == slot.meets.end()) {
      return InvalidArgument("the device has met device " + std::to_string(met.device.value) +
                             ", which it was not to meet");
    }
    if (bytes > kMostFetched * ModelBytes()) {
      return InvalidArgument("the device has fetched " + std::to_string(bytes) + " bytes of a model of " +
                             std::to_string(ModelBytes()));
    }
  }
  return OkStatus();
}

void Exchange::ReportMeeting(Session& session, Slot& slot, const Answer& answer) {
  slot.result.report.met = static_cast<std::int64_t>(answer.met.size());
  for (const Met& met : answer.met) {
    slot.result.report.down += Bytes{met.bytes};
    question_->slots[question_->slot_of.at(met.device)].result.report.up += Bytes{met.bytes};
  }
  // A device keeps this one, the one before, and one that may be asked for after a crash.
  const Member& member = members_.all()[*session.member];
  session.models = {question_->inquiry->round, RoundId{member.applied_round}, RoundId{member.durable_round}};
}

}  // namespace tributary::remote
