#include <algorithm>
#include <cstring>

#include "tributary/base/check.h"
#include "tributary/fleet/remote/exchange_parts.h"

namespace tributary::remote {

std::size_t Exchange::SamplesOver(const Slot& slot, int crossing) const {
  const auto step = static_cast<std::uint64_t>(options_.cut->StepOf(crossing));
  return SamplesAt(std::get<TrainAssignment>(slot.work), slot.samples, step);
}

std::size_t Exchange::BytesUp(const Slot& slot, int crossing) const {
  return options_.cut->BytesUp(crossing, SamplesOver(slot, crossing));
}

double Exchange::LossOf(const Slot& slot) const {
  const auto place = static_cast<std::size_t>(&slot - question_->slots.data());
  double loss = 0, all = 0;
  for (int crossing = 0; crossing < question_->crossings; ++crossing) {
    const auto samples = static_cast<double>(SamplesOver(slot, crossing));
    loss += question_->server->Reply(place, crossing)->loss * samples;
    all += samples;
  }
  return loss / std::max(1.0, all);
}

Status Exchange::Handle(Session& session, const Crossing& crossing, ByteSpan values) {
  const Lock lock(mutex_);
  if (session.left || IsLate(session, crossing.ticket, values.size(), /*last=*/false)) return OkStatus();
  if (session.task && session.task->ticket == crossing.ticket && !question_->open) return OkStatus();
  TRIBUTARY_RETURN_IF_ERROR(CheckWorking(session, crossing.ticket));
  Task& task = *session.task;
  if (question_->server == nullptr || task.at_cut || crossing.crossing != task.crossing ||
      task.crossing == question_->crossings) {
    return WrongOrder("the device sends over a cut where it is not");
  }
  Slot& slot = SlotOf(session);
  const std::size_t expected = BytesUp(slot, task.crossing);
  if (values.empty() || values.size() > expected - task.crossed.size()) {
    return InvalidArgument("the device sends " + std::to_string(task.crossed.size() + values.size()) +
                           " bytes over the cut, where its batch takes " + std::to_string(expected));
  }
  task.crossed.insert(task.crossed.end(), values.begin(), values.end());
  task.up += Bytes{static_cast<std::int64_t>(values.size())};
  members_.Set(*session.member, Doing::kPushing, clock_.Now());
  if (task.crossed.size() < expected) return OkStatus();
  task.at_cut = true;
  question_->at_cut.push_back(static_cast<std::size_t>(&slot - question_->slots.data()));
  changed_.notify_all();
  return OkStatus();
}

StatusOr<bool> Exchange::ServeCut(Lock& lock) {
  Question& question = *question_;
  if (question.server == nullptr) return false;
  Status status;
  {
    Errands errands;  // Run without the lock.
    if (!question.at_cut.empty()) {
      const std::size_t place = question.at_cut.front();
      question.at_cut.pop_front();
      status = TakeCrossing(lock, place, errands);
    } else if (MayClose(clock_.Now())) {
      status = CloseCrossing(lock, errands);
    } else {
      return false;
    }
    lock.unlock();
  }
  lock.lock();
  if (!status.ok()) return status;
  return true;
}

Status Exchange::TakeCrossing(Lock& lock, std::size_t place, Errands& errands) {
  Question& question = *question_;
  Slot& slot = question.slots[place];
  // Whoever sent it may be gone by now, or have been told that it is too late.
  if (slot.settled || slot.session == nullptr || !slot.session->task->at_cut) return OkStatus();
  Task& task = *slot.session->task;
  const int crossing = task.crossing;
  Slot::Visit& visit = slot.visits[static_cast<std::size_t>(crossing)];
  if (visit.taken) {  // It came before, from the same device.
    GiveReply(slot, crossing, errands);
    return OkStatus();
  }
  const CutWire::Form form = options_.cut->Up(crossing);
  const std::size_t samples = SamplesOver(slot, crossing);
  const std::uint64_t ticket = task.ticket;
  const std::vector<std::byte> bytes = std::move(task.crossed);
  lock.unlock();
  const std::size_t size = form.BytesOf(samples);
  std::vector<float> values(samples * form.values);
  std::vector<std::int32_t> labels((bytes.size() - size) / sizeof(std::int32_t));
  if (!labels.empty()) std::memcpy(labels.data(), bytes.data() + size, labels.size() * sizeof(std::int32_t));
  Status status = ReadCut(form.precision, ByteSpan(bytes).first(size), form.values, values);
  if (status.ok()) status = question.server->Take(place, {crossing, values, labels});
  lock.lock();
  if (status.code() == StatusCode::kResourceExhausted) return status;
  if (status.ok()) {
    visit.taken = true;
    GiveReply(slot, crossing, errands);
    return OkStatus();
  }
  // Its own loss, and nobody else's.
  Session* const session = slot.session;
  if (session == nullptr || !session->task || session->task->ticket != ticket) return OkStatus();
  Settle(slot, Outcome::kRefused, status.message());
  errands.Close(*session, status);
  Leave(lock, *session, errands);
  return OkStatus();
}

void Exchange::Dismiss(Slot& slot, Outcome outcome, const std::string& reason, Errands& errands) {
  if (slot.session != nullptr) (void)EndTask(slot, reason, errands);  // Of an update nothing has come yet.
  Settle(slot, outcome, reason);
}

void Exchange::GiveReply(Slot& slot, int crossing, Errands& errands) {
  Slot::Visit& visit = slot.visits[static_cast<std::size_t>(crossing)];
  if (!visit.reply) {
    const auto place = static_cast<std::size_t>(&slot - question_->slots.data());
    const CutReply* const reply = question_->server->Reply(place, crossing);
    if (reply == nullptr) return;
    const CutWire::Form form = options_.cut->Down(crossing);
    std::vector<std::byte> bytes;
    if (const Status status = AppendCut(form.precision, reply->values, form.values, bytes); !status.ok()) {
      return Dismiss(slot, Outcome::kRefused, "what goes back over the cut: " + status.message(), errands);
    }
    visit.reply = std::make_shared<const std::vector<std::byte>>(std::move(bytes));
  }
  Session* const session = slot.session;
  if (session == nullptr || !session->task || !session->task->at_cut || session->task->crossing != crossing)
    return;
  session->task->reply = visit.reply;
  if (!session->pending) session->pending = clock_.Now();
  errands.Wake(*session);
}

bool Exchange::MayClose(TimePoint now) const {
  const Question& question = *question_;
  if (!question.server->waits() || question.closed == question.crossings) return false;
  const auto taken = [at = static_cast<std::size_t>(question.closed)](const Slot& slot) {
    return slot.visits[at].taken;
  };
  const auto here = [&](const Slot& slot) { return !slot.settled && taken(slot); };
  const auto count = static_cast<std::size_t>(std::ranges::count_if(question.slots, here));
  if (count == 0) return false;
  const bool enough = count >= question.inquiry->quorum;
  const bool too_long =
      question.inquiry->deadline && now - question.patient_from >= *question.inquiry->deadline;
  return std::ranges::all_of(question.slots, [&](const Slot& slot) {
    const Member& member = members_.all()[slot.result.report.device.value];
    const bool gone = member.doing == Doing::kGone && now - member.since >= options_.grace;
    return slot.settled || taken(slot) || (enough && (gone || too_long));
  });
}

Status Exchange::CloseCrossing(Lock& lock, Errands& errands) {
  Question& question = *question_;
  const int crossing = question.closed++;
  const auto taken = [crossing](const Slot& slot) {
    return slot.visits[static_cast<std::size_t>(crossing)].taken;
  };
  for (Slot& slot : question.slots) {
    if (slot.settled || taken(slot)) continue;
    const bool there = slot.session != nullptr;
    Dismiss(slot,
            there        ? Outcome::kLate
            : slot.begun ? Outcome::kCrashed
                         : Outcome::kLost,
            "the others went on without it", errands);
  }
  lock.unlock();
  const Status status = question.server->Close(crossing);
  lock.lock();
  if (status.code() == StatusCode::kResourceExhausted) return status;
  question.patient_from = clock_.Now();
  for (std::size_t place = 0; place < question.slots.size(); ++place) {
    Slot& slot = question.slots[place];
    if (slot.settled || !taken(slot)) continue;
    if (question.server->Reply(place, crossing) != nullptr) {
      GiveReply(slot, crossing, errands);
      continue;
    }
    Dismiss(slot, Outcome::kRefused,
            status.ok() ? "what it sent over the cut cannot be learnt from" : status.message(), errands);
  }
  return OkStatus();
}

}  // namespace tributary::remote
