#include <algorithm>
#include <cstdio>

#include "tributary/base/check.h"
#include "tributary/base/rng.h"
#include "tributary/data/record.h"
#include "tributary/fleet/remote/exchange_parts.h"

namespace tributary::remote {
namespace {

constexpr std::size_t kMostLate = 1000;

}  // namespace

TransferPlan Exchange::Whole() const {
  const std::size_t units = options_.model->units.size();
  return units == 0 ? TransferPlan{} : TransferPlan{{0, units - 1}};
}

std::vector<std::pair<Array, Segment>> Exchange::Outgoing(const TransferPlan& plan) const {
  std::vector<std::pair<Array, Segment>> pieces;
  const Model& model = *options_.model;
  for (const LayerRun& run : plan) {
    for (const Segment& piece : parameters_.Pieces(model.parameters.Run(run.first, run.last))) {
      pieces.emplace_back(Array::kParameters, piece);
    }
    for (const Segment& piece : statistics_.Pieces(model.statistics.Run(run.first, run.last))) {
      pieces.emplace_back(Array::kStatistics, piece);
    }
  }
  return pieces;
}

std::size_t Exchange::CountOf(const std::vector<std::byte>& records) const {
  return records.size() / RecordBytes(*options_.shared);
}

std::vector<std::shared_ptr<const std::vector<std::byte>>> Exchange::SharedWith(std::size_t member) const {
  std::vector<std::shared_ptr<const std::vector<std::byte>>> samples;
  for (std::size_t i = 0; i < members_.all().size(); ++i) {
    if (i != member && members_.all()[i].shared) samples.push_back(members_.all()[i].shared);
  }
  return samples;
}

void Exchange::Begin(Session& session, Errands& errands) {
  if (!question_ || !question_->open || !session.ready || session.left || session.task) return;
  const auto found = question_->slot_of.find(DeviceId{*session.member});
  if (found == question_->slot_of.end()) return;
  Slot& slot = question_->slots[found->second];
  // While another connection's share is being taken back, this one waits; TakeBack's caller calls again.
  if (slot.session != nullptr || (slot.settled && !NeededAgain(slot))) return;
  slot.session = &session;
  slot.begun = true;
  StepPlan plan{Whole(), Whole(), 0};
  if (const auto* train = std::get_if<TrainAssignment>(&slot.work); train != nullptr && !question_->meets) {
    plan = plans_.PlanFor(*session.member, *train, members_[*session.member].profile.samples);
  }
  const bool weights = NeedsWeights(session);
  session.task = std::make_unique<Task>(++tickets_, *this, std::move(plan), weights);
  session.task->begun = clock_.Now();
  std::size_t received = 0;
  if (std::holds_alternative<TrainAssignment>(slot.work)) {
    session.task->samples = SharedWith(*session.member);
    for (const auto& records : session.task->samples) received += CountOf(*records);
  }
  if (std::holds_alternative<CalibrateAssignment>(question_->work))
    session.task->moments = Moments(statistics_.size());
  members_.Set(*session.member, weights ? Doing::kPulling : Doing::kComputing, clock_.Now());
  const Member& member = members_[*session.member];
  Assignment assignment{session.task->ticket,
                        question_->inquiry->round,
                        slot.work,
                        EndsOf(session.task->plan.pull),
                        EndsOf(session.task->plan.push),
                        RoundId{member.applied_round},
                        RoundId{member.durable_round},
                        member.applied_position,
                        member.durable_position,
                        slot.share,
                        received,
                        TimeLeft(*question_)};
  assignment.without_weights = !weights;
  if (question_->meets) assignment.meeting = PlanOfMeeting(slot);
  Send(session, std::move(assignment), 0, errands);
  if (question_->meets) BeginMeeting(slot, session, errands);
}

double Exchange::TimeLeft(const Question& question) const {
  constexpr double kNone = 1e-3;  // Past the deadline there is little, which is not the same as no deadline.
  if (!question.inquiry->deadline) return 0;
  return std::max(kNone, ToSeconds(question.patient_from + *question.inquiry->deadline - clock_.Now()));
}

void Exchange::Unpin(Question& question) {
  // Only a question that is being closed is waited for; waking its asker for every piece would cost more than the piece.
  if (--question.pins == 0 && !question.open) changed_.notify_all();
}

Exchange::Slot& Exchange::SlotOf(const Session& session) {
  return question_->slots[question_->slot_of.at(DeviceId{*session.member})];
}

void Exchange::Settle(Slot& slot, Outcome outcome, std::string reason) {
  slot.result.report.outcome = outcome;
  slot.result.report.reason = std::move(reason);
  slot.settled = true;
  slot.settled_at = clock_.Now();
  ++question_->settled;
  if (outcome == Outcome::kApplied) ++question_->applied;
  changed_.notify_all();
}

void Exchange::GiveUp(Slot& slot, Outcome outcome, std::string reason, Errands& errands) {
  if (!slot.settled) {
    Settle(slot, outcome, std::move(reason));
  } else if (!slot.absent) {  // It was asked again for what it offers; the answer that it gave stays.
    MarkAbsent(slot, errands);
  }
}

void Exchange::Charge(Slot& slot, const Task& task) {
  slot.result.report.down += task.down;
  slot.result.report.up += task.up;
  slot.result.report.injected += task.injected;
  slot.result.report.relayed += task.relayed;
}

void Exchange::Abandon(Lock& lock, Session& session, Errands& errands) {
  const std::unique_ptr<Task> task = std::move(session.task);
  if (!task) return;
  Question& question = *question_;
  const DeviceId device{*session.member};
  ++question.pins;
  lock.unlock();
  TakeBack(*task, device, question.sink);
  lock.lock();
  Slot& slot = question.slots[question.slot_of.at(device)];
  Charge(slot, *task);
  slot.session = nullptr;
  if (Session* const successor = session_of_[device.value]) Begin(*successor, errands);
  Unpin(question);
}

void Exchange::TakeBack(Task& task, DeviceId device, UpdateSink* sink) {
  const Status status = task.journal.Drain(
      [&](const UpdatePiece& piece) { sink->Retract(device, task.weight.value_or(0), piece); });
  // The temporary file was written a moment ago. If it cannot be read, the sum of the round cannot be mended.
  if (!status.ok()) std::fprintf(stderr, "tributary: %s\n", status.message().c_str());
  TRIBUTARY_CHECK(status.ok());
}

bool Exchange::Over(TimePoint now) const {
  const Question& question = *question_;
  if (question.settled == question.slots.size()) return true;
  if (question.applied < question.inquiry->quorum) return false;
  if (question.inquiry->deadline && now - question.patient_from >= *question.inquiry->deadline) return true;
  return std::ranges::all_of(question.slots, [&](const Slot& slot) {
    const Member& member = members_.all()[slot.result.report.device.value];
    return slot.settled || (member.doing == Doing::kGone && now - member.since >= options_.grace);
  });
}

StatusOr<Exchange::Results> Exchange::Ask(const Inquiry& inquiry, const Work& work, const Portions& portions,
                                          std::span<const DeviceProfile> devices, UpdateSink* sink,
                                          const std::function<bool()>& stop) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  {
    Errands errands;
    const std::lock_guard lock(mutex_);
    Pose(inquiry, work, portions, devices, sink, errands);
  }
  Errands errands;
  Lock lock(mutex_);
  Question& question = *question_;
  bool stopped = false;
  Status failed;
  while (!Over(clock_.Now()) && !(stopped = stop && stop())) {
    const auto served = ServeCut(lock);
    if (!served.ok()) failed = served.status();
    if (!served.ok()) break;
    if (*served || TellAbsent(lock)) continue;
    Duration wait = kBetweenLooks;
    if (inquiry.deadline) {
      wait = std::clamp<Duration>(question.patient_from + *inquiry.deadline - clock_.Now(),
                                  std::chrono::milliseconds(1), wait);
    }
    changed_.wait_for(lock, wait);
  }
  question.open = false;
  changed_.wait(lock, [&] { return question.pins == 0; });
  Results results{question.start, clock_.Now(), {}};
  const std::vector<std::unique_ptr<Task>> late = EndTasks(errands);
  // Nobody knows of these any more, and nothing new begins: the lock is not needed to take them back.
  lock.unlock();
  for (std::size_t i = 0; i < late.size(); ++i) {
    if (late[i]) TakeBack(*late[i], inquiry.participants[i], sink);
  }
  lock.lock();
  if (std::holds_alternative<TrainAssignment>(work)) {
    for (std::size_t i = 0; i < members_.all().size(); ++i)
      members_[i].shared = nullptr;  // also of who was not asked
  }
  for (Slot& slot : question.slots) {
    DeviceReport& report = slot.result.report;
    if (slot.settled) report.wait += results.end - slot.settled_at;
    if (std::holds_alternative<TrainAssignment>(work)) {
      Member& member = members_[report.device.value];
      if (report.outcome == Outcome::kApplied) member.shared = slot.shared;
      ++(report.outcome == Outcome::kApplied ? member.applied : member.missed);
    }
    results.devices.push_back(std::move(slot.result));
  }
  question_.reset();
  if (stopped) return Cancelled("stopped in the middle of a round");
  TRIBUTARY_RETURN_IF_ERROR(failed);
  return results;
}

void Exchange::Pose(const Inquiry& inquiry, const Work& work, const Portions& portions,
                    std::span<const DeviceProfile> devices, UpdateSink* sink, Errands& errands) {
  TRIBUTARY_CHECK(!question_);
  question_ = std::make_unique<Question>();
  question_->inquiry = &inquiry;
  question_->work = work;
  question_->sink = sink;
  question_->start = question_->patient_from = clock_.Now();
  question_->server = portions.server;
  const std::size_t all = inquiry.participants.size();
  TRIBUTARY_CHECK(portions.batches.empty() || portions.batches.size() == all);
  TRIBUTARY_CHECK(portions.share.empty() || (portions.share.size() == all && options_.shared));
  TRIBUTARY_CHECK(portions.first.empty() || portions.first.size() == all);
  TRIBUTARY_CHECK(portions.server == nullptr || options_.cut);
  TRIBUTARY_CHECK(portions.meetings.empty() || portions.meetings.size() == all);
  if (!portions.meetings.empty()) {
    question_->meets = true;
    question_->meeting = Rng::ForStream(options_.life, DeviceId{0}, "meeting", inquiry.round.value).Next();
  }
  if (portions.server != nullptr)
    question_->crossings = options_.cut->crossings() * std::get<TrainAssignment>(work).steps;
  for (const DeviceId device : inquiry.participants) {
    TRIBUTARY_CHECK(device.value < session_of_.size() && device.value < devices.size());
    question_->slot_of.emplace(device, question_->slots.size());
    Slot slot;
    slot.result.report.device = device;
    slot.work = work;
    if (auto* train = std::get_if<TrainAssignment>(&slot.work)) {
      const std::size_t place = question_->slots.size();
      if (!portions.batches.empty()) train->batch = portions.batches[place];
      if (!portions.share.empty()) slot.share = portions.share[place];
      if (!portions.first.empty()) train->first = portions.first[place];
      if (question_->meets) slot.meets = portions.meetings[place];
      slot.samples = devices[device.value].samples;
      slot.visits.resize(static_cast<std::size_t>(question_->crossings));
      slot.most_weight = MostWeight(*train, slot.samples);
      for (const auto& records : SharedWith(device.value))
        slot.most_weight += static_cast<double>(CountOf(*records));
    }
    if (question_->collects()) slot.most_weight = 1;
    question_->slots.push_back(std::move(slot));
  }
  for (Session* const session : session_of_) {
    if (session != nullptr) Begin(*session, errands);
  }
}

std::unique_ptr<Exchange::Task> Exchange::EndTask(Slot& slot, const std::string& reason, Errands& errands) {
  const std::size_t sample_bytes = options_.shared ? RecordBytes(*options_.shared) : 0;
  std::size_t answer_bytes =
      (parameters_.size() + statistics_.size()) * sizeof(float) + 2 * moments_.size() * sizeof(double);
  for (int i = 0; i < question_->crossings; ++i) answer_bytes += BytesUp(slot, i);
  Session& session = *std::exchange(slot.session, nullptr);
  std::unique_ptr<Task> task = std::move(session.task);
  Charge(slot, *task);
  // Twice what an answer takes, for headings; of a device that sends its pieces small.
  const std::size_t allowance = 2 * answer_bytes + slot.share * sample_bytes + (64 << 10);
  session.late.push_back({task->ticket, static_cast<std::int64_t>(allowance)});
  if (session.late.size() > kMostLate) session.late.pop_front();
  members_.Set(slot.result.report.device.value, Doing::kWaiting, clock_.Now());
  Send(session, Verdict{task->ticket, Verdict::Outcome::kLate, reason}, 0, errands);
  return task;
}

std::vector<std::unique_ptr<Exchange::Task>> Exchange::EndTasks(Errands& errands) {
  std::vector<std::unique_ptr<Task>> tasks;
  for (Slot& slot : question_->slots) {
    tasks.emplace_back();
    if (slot.settled) {
      if (question_->meets && slot.session != nullptr)
        tasks.back() = EndTask(slot, "nobody needs its model any more", errands);
      continue;
    }
    DeviceReport& report = slot.result.report;
    if (slot.session == nullptr) {
      report.outcome = slot.begun ? Outcome::kCrashed : Outcome::kLost;
      report.reason = slot.begun ? "its connection broke" : "it was not there";
      continue;
    }
    report.outcome = Outcome::kLate;
    report.reason = "the round ended before its answer was complete";
    tasks.back() = EndTask(slot, report.reason, errands);
  }
  return tasks;
}

}  // namespace tributary::remote
