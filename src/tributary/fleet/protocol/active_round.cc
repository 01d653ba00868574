#include "tributary/fleet/protocol/active_round.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/data/record.h"
#include "tributary/policy/trust/trust.h"

namespace tributary::inline protocol {

ActiveRound::ActiveRound(WorkOrder order, std::span<const DeviceProfile> devices,
                         const ExchangeOptions& options, Sessions& sessions, const Clock& clock)
    : order_(std::move(order)),
      options_(options),
      sessions_(sessions),
      clock_(clock),
      start_(clock.Now()),
      patient_from_(start_) {
  const std::size_t all = order_.participants.size();
  TRIBUTARY_CHECK(order_.batches.empty() || order_.batches.size() == all);
  TRIBUTARY_CHECK(order_.share.empty() || (order_.share.size() == all && options.shared));
  TRIBUTARY_CHECK(order_.first.empty() || order_.first.size() == all);
  const Model& model = *options.model;
  std::vector<double> speeds;
  for (const DeviceId device : order_.participants) speeds.push_back(devices[device.value].compute.value);
  if (options.largest_share > 0) slowest_ = LowerMedian(std::move(speeds)) / options.largest_share;
  for (std::size_t place = 0; place < all; ++place) {
    const DeviceId device = order_.participants[place];
    TRIBUTARY_CHECK(device.value < sessions.members().all().size() && device.value < devices.size());
    place_of_.emplace(device, place);
    Participant participant;
    participant.report.device = device;
    participant.work = order_.work;
    participant.answer_bytes = (model.parameters.size + model.statistics.size) * sizeof(float) +
                               2 * model.statistics.size * sizeof(double);
    if (auto* train = std::get_if<TrainAssignment>(&participant.work)) {
      train->batch = order_.BatchOf(place);
      participant.share = order_.ShareOf(place);
      if (!order_.first.empty()) train->first = order_.first[place];
      participant.samples = devices[device.value].samples;
      participant.most_weight = MostWeight(*train, participant.samples);
      for (const auto& records : sessions.members().SharedWith(device.value)) {
        participant.most_weight += static_cast<double>(records->size() / RecordBytes(*options.shared));
      }
    }
    if (collects()) {
      participant.most_weight = 1;
      if (sessions.members().all()[device.value].applied_round == 0) {
        participant.finished = true;
        participant.finished_at = start_;
        participant.report.reason = "it has no model yet";
        events_.push_back({start_, FleetEvent::Kind::kFailed, device});
      }
    }
    // A method that has planned ahead asks it, and an operator has removed it since.
    if (!sessions.members().all()[device.value].belongs() && !participant.finished) {
      participant.finished = true;
      participant.finished_at = start_;
      participant.report.reason = "an operator has removed it from the run";
      events_.push_back({start_, FleetEvent::Kind::kFailed, device});
    }
    participants_.push_back(std::move(participant));
  }
  if (quorum() != order_.quorum) events_.push_front({start_, FleetEvent::Kind::kQuorum, {}, quorum()});
}

std::size_t ActiveRound::quorum() const {
  const auto& members = std::as_const(sessions_).members().all();
  const auto left = static_cast<std::size_t>(std::ranges::count_if(
      participants_, [&](const Participant& other) { return members[other.device().value].belongs(); }));
  return std::min(sessions_.quorum.value_or(order_.quorum), left);
}

void ActiveRound::TellQuorum(DeferredCalls& calls) {
  events_.push_back({clock_.Now(), FleetEvent::Kind::kQuorum, {}, quorum()});
  calls.Notify();
}

Participant* ActiveRound::Find(DeviceId device) {
  const auto found = place_of_.find(device);
  return found == place_of_.end() ? nullptr : &participants_[found->second];
}

void ActiveRound::Finish(Participant& participant, Outcome outcome, std::string reason,
                         DeferredCalls& calls) {
  participant.report.outcome = outcome;
  participant.report.reason = std::move(reason);
  participant.finished = true;
  participant.finished_at = clock_.Now();
  events_.push_back({participant.finished_at,
                     outcome == Outcome::kApplied ? FleetEvent::Kind::kCompleted : FleetEvent::Kind::kFailed,
                     participant.device()});
  calls.Notify();
}

void ActiveRound::Charge(Participant& participant, const Task& task) {
  DeviceReport& report = participant.report;
  report.down += task.down;
  report.up += task.up;
  report.injected += task.injected;
  if (task.relays) report.relayed += task.relays->relayed;
}

std::unique_ptr<Task> ActiveRound::EndTask(Participant& participant, const std::string& reason,
                                           DeferredCalls& calls) {
  Session& session = *std::exchange(participant.session, nullptr);
  std::unique_ptr<Task> task = std::move(session.task);
  Charge(participant, *task);
  // Twice the size of an answer, to allow for the headers of small pieces.
  const std::size_t sample_bytes = options_.shared ? RecordBytes(*options_.shared) : 0;
  sessions_.ExpectLate(session, task->ticket,
                       2 * participant.answer_bytes + participant.share * sample_bytes + (64 << 10));
  sessions_.SetDoing(session, Doing::kWaiting);
  sessions_.Send(session, {Verdict{task->ticket, Verdict::Outcome::kLate, reason}}, calls);
  return task;
}

std::vector<std::unique_ptr<Task>> ActiveRound::EndTasks(DeferredCalls& calls) {
  std::vector<std::unique_ptr<Task>> tasks;
  for (Participant& participant : participants_) {
    tasks.emplace_back();
    if (participant.finished) {  // It may be repeating its work, for its neighbours.
      if (participant.session != nullptr)
        tasks.back() = EndTask(participant, "its model is no longer needed", calls);
      continue;
    }
    DeviceReport& report = participant.report;
    if (participant.session == nullptr) {
      report.outcome = participant.begun ? Outcome::kCrashed : Outcome::kLost;
      report.reason = participant.begun ? "its connection broke" : "it was not there";
      continue;
    }
    report.outcome = Outcome::kLate;
    report.reason = "the round ended before its answer was complete";
    if (IsStalled(participant)) {
      report.outcome = Outcome::kLost;
      report.reason = fmt::format("it made no progress for {:.0f} s (trust.patience)",
                                  ToSeconds(clock_.Now() - participant.session->task->progressed));
    }
    tasks.back() = EndTask(participant, report.reason, calls);
  }
  return tasks;
}

RoundReport ActiveRound::TakeResults(TimePoint end) {
  RoundReport results{start_, end, {}, {}, Moments(calibrates() ? options_.model->statistics.size : 0)};
  Members& members = sessions_.members();
  if (trains()) members.ForgetShared();  // also of members that were not asked
  for (Participant& participant : participants_) {
    DeviceReport& report = participant.report;
    if (participant.finished) report.wait += end - participant.finished_at;
    if (trains()) {
      Member& member = members[report.device.value];
      if (report.outcome == Outcome::kApplied) member.shared = participant.shared;
      ++(report.outcome == Outcome::kApplied ? member.applied : member.missed);
    }
    if (participant.applied()) {
      results.totals += participant.totals;
      if (participant.moments) results.moments += *participant.moments;
    }
    results.devices.push_back(std::move(report));
  }
  return results;
}

bool ActiveRound::TimeIsUp() const {
  return order_.deadline && clock_.Now() - patient_from_ >= *order_.deadline;
}

bool ActiveRound::IsGone(const Participant& participant) const {
  const Member& member = std::as_const(sessions_).members().all()[participant.device().value];
  return IsStalled(participant) ||
         (member.doing == Doing::kGone && clock_.Now() - member.since >= options_.grace);
}

bool ActiveRound::IsStalled(const Participant& participant) const {
  if (participant.session == nullptr || !participant.session->task) return false;
  const std::optional<TimePoint> stalls = participant.session->task->StallsAt();
  return stalls && clock_.Now() >= *stalls;
}

Duration ActiveRound::PatienceFor(const Participant& participant, double samples) const {
  constexpr double kLeast = 60, kMost = 1e7;  // seconds
  constexpr double kPasses = 3;               // of a step, in forward passes
  const Member& member = std::as_const(sessions_).members().all()[participant.device().value];
  // A stream's samples come when they come.
  if (options_.patience <= 0 || member.streams) return Duration(0);
  const double macs = static_cast<double>(TotalMacs(options_.model->costs).value);
  const double rate = std::max({1.0, slowest_, member.profile.compute.value});
  return FromSeconds(std::clamp(options_.patience * kPasses * macs * samples / rate, kLeast, kMost));
}

std::optional<FleetEvent> ActiveRound::TellPresence(bool lost) {
  for (Participant& participant : participants_) {
    if (participant.finished || participant.lost == lost || IsGone(participant) != lost) continue;
    participant.lost = lost;
    return FleetEvent{clock_.Now(), lost ? FleetEvent::Kind::kLost : FleetEvent::Kind::kReturned,
                      participant.device()};
  }
  return std::nullopt;
}

std::optional<FleetEvent> ActiveRound::NextEvent() {
  // Returns come first: given the completions alone, the caller would end the round without that device.
  if (const std::optional<FleetEvent> returned = TellPresence(/*lost=*/false)) return returned;
  if (!events_.empty()) {
    const FleetEvent event = events_.front();
    events_.pop_front();
    return event;
  }
  return TellPresence(/*lost=*/true);
}

void ActiveRound::Release(DeferredCalls& calls) {
  patient_from_ = clock_.Now();
  events_.push_back({patient_from_, FleetEvent::Kind::kReleased});
  calls.Notify();
}

std::optional<TimePoint> ActiveRound::NextDeadline() const {
  const TimePoint now = clock_.Now();
  std::optional<TimePoint> next;
  const auto consider = [&](TimePoint time) {
    if (time > now) next = std::min(next.value_or(time), time);
  };
  if (order_.deadline) consider(patient_from_ + *order_.deadline);
  for (const Participant& participant : participants_) {
    const Member& member = std::as_const(sessions_).members().all()[participant.device().value];
    if (member.doing == Doing::kGone) consider(member.since + options_.grace);
    if (participant.session == nullptr || !participant.session->task) continue;
    if (const auto stalls = participant.session->task->StallsAt()) consider(*stalls);
  }
  return next;
}

double ActiveRound::TimeLeft() const {
  constexpr double kNone = 1e-3;  // After the deadline: little time left, as 0 means no deadline.
  if (!order_.deadline) return 0;
  return std::max(kNone, ToSeconds(patient_from_ + *order_.deadline - clock_.Now()));
}

void ActiveRound::Unpin(DeferredCalls& calls) {
  // Only Close waits for unpinning; a notification for every piece would cost more than the piece.
  if (--pins_ == 0 && !open_) calls.Notify();
}

void ActiveRound::Fail(Status reason, DeferredCalls& calls) {
  if (failure_.ok()) failure_ = std::move(reason);
  calls.Notify();
}

}  // namespace tributary::inline protocol
