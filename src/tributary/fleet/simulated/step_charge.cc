#include "tributary/fleet/simulated/step_charge.h"

#include <algorithm>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary {
namespace {

constexpr double kLongest = 9e9;  // what the clock can hold, in seconds
// Going back through a layer takes its forward pass twice.
constexpr double kBackward = 2;

double Sum(const std::vector<double>& values, const LayerRun& run) {
  return std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(run.first),
                         values.begin() + static_cast<std::ptrdiff_t>(run.last) + 1, 0.0);
}

Outcome OutcomeOf(DeviceOutcome outcome) {
  switch (outcome) {
    case DeviceOutcome::kArrived: return Outcome::kApplied;
    case DeviceOutcome::kLate: return Outcome::kLate;
    case DeviceOutcome::kCrashed: return Outcome::kCrashed;
    case DeviceOutcome::kAbsent:
    case DeviceOutcome::kVanished:
    case DeviceOutcome::kLost:
    case DeviceOutcome::kStuck: return Outcome::kLost;
  }
  return Outcome::kLost;
}

std::string ReasonOf(DeviceOutcome outcome) {
  switch (outcome) {
    case DeviceOutcome::kArrived: return "";
    case DeviceOutcome::kLate: return "it arrived after the round had ended";
    case DeviceOutcome::kCrashed: return "it broke off in the middle of its upload";
    case DeviceOutcome::kAbsent: return "it was not there";
    case DeviceOutcome::kVanished: return "it vanished";
    case DeviceOutcome::kLost: return "its update was lost on the way";
    case DeviceOutcome::kStuck: return "it never finished";
  }
  return "";
}

Duration Total(std::span<const Busy> intervals) {
  Duration total{0};
  for (const Busy& busy : intervals) total += busy.end - busy.begin;
  return total;
}

// The time in which there is at least one.
Duration Covered(std::vector<Busy> intervals) {
  std::ranges::sort(intervals, {}, &Busy::begin);
  Duration covered{0};
  TimePoint until = TimePoint::min();
  for (const Busy& busy : intervals) {
    covered += std::max(busy.end, until) - std::max(busy.begin, until);
    until = std::max(until, busy.end);
  }
  return covered;
}

}  // namespace

StepCharge::StepCharge(const Model& charged)
    : units_(CostsOfUnits(charged)),
      macs_(static_cast<double>(TotalMacs(charged.costs).value)),
      unit_bytes_(std::make_shared<const std::vector<std::int64_t>>(units_.bytes)) {}

StepCosts StepCharge::Costs(const DeviceProfile& profile, const StepWork& work) const {
  StepCosts costs;
  const double per_mac = work.slow / profile.compute.value;
  for (const double macs : units_.macs) {
    costs.forward.push_back(work.first * macs * per_mac);
    costs.backward.push_back(kBackward * work.last * macs * per_mac);
  }
  costs.between = std::max(0.0, work.passes - work.first - kBackward * work.last) * macs_ * per_mac;
  costs.pull_setup = costs.push_setup = ToSeconds(profile.setup + profile.round_trip / 2);
  costs.pull_per_byte = 8 / profile.downlink.value;
  costs.push_per_byte = 8 / profile.uplink.value;
  return costs;
}

StepPlan StepCharge::Whole() const {
  const LayerRun all{0, std::max<std::size_t>(units_.macs.size(), 1) - 1};
  return {{all}, {all}, 0};
}

void StepCharge::Cut(const StepPlan& plan, DeviceTask& task) const {
  const auto bytes = [&](const LayerRun& run) {
    std::int64_t sum = 0;
    for (std::size_t unit = run.first; unit <= run.last && unit < unit_bytes_->size(); ++unit) sum += (*unit_bytes_)[unit];
    return Bytes{sum};
  };
  task.pull.clear();
  task.push.clear();
  for (const LayerRun& run : plan.pull) task.pull.push_back(bytes(run));
  for (std::size_t i = plan.push.size(); i-- > 0;) task.push.push_back(bytes(plan.push[i]));
}

std::vector<Duration> StepCharge::Parts(const DeviceProfile& profile, const StepPlan& plan,
                                        const StepWork& work) const {
  const StepCosts costs = Costs(profile, work);
  const double all = work.passes * macs_ / profile.compute.value * work.slow;
  if (!(all <= kLongest)) return {};
  std::vector<double> seconds;
  if (costs.forward.empty()) return {FromSeconds(all), Duration(0)};
  for (const LayerRun& run : plan.pull) seconds.push_back(Sum(costs.forward, run));
  for (std::size_t i = plan.push.size(); i-- > 0;) {
    seconds.push_back(Sum(costs.backward, plan.push[i]) + (i + 1 == plan.push.size() ? costs.between : 0));
  }
  std::vector<Duration> parts;
  double until = 0;
  Duration before{0};
  for (std::size_t i = 0; i < seconds.size(); ++i) {
    until += seconds[i];
    const Duration end = i + 1 == seconds.size() ? FromSeconds(all) : std::min(FromSeconds(until), FromSeconds(all));
    parts.push_back(end - before);
    before = end;
  }
  return parts;
}

StepObservation StepCharge::Observed(const DeviceTimes& times, Duration stream_wait, const StepPlan& plan,
                                     const DeviceTask& task, const StepCosts& costs) const {
  StepObservation seen;
  const auto moves = [](const std::vector<Busy>& messages, const std::vector<Bytes>& sizes, auto& out) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      out.push_back({1, static_cast<double>(sizes[i].value), ToSeconds(messages[i].end - messages[i].begin)});
    }
  };
  moves(times.pulls, task.pull, seen.pulls);
  moves(times.pushes, task.push, seen.pushes);
  // A device times each layer; here a part's time is its layers' in proportion to what they should take.
  double computed = 0;
  seen.forward = costs.forward;
  seen.backward = costs.backward;
  const auto scale = [&](const LayerRun& run, double extra, const Busy& part, Duration wait, std::vector<double>& layers) {
    const double taken = ToSeconds(part.end - part.begin - wait);
    const double expected = Sum(layers, run) + extra;
    computed += taken;
    if (expected <= 0) return 1.0;
    for (std::size_t unit = run.first; unit <= run.last; ++unit) layers[unit] *= taken / expected;
    return taken / expected;
  };
  for (std::size_t i = 0; i < plan.pull.size(); ++i) {
    scale(plan.pull[i], 0, times.parts[i], i == 0 ? stream_wait : Duration(0), seen.forward);
  }
  for (std::size_t i = 0; i < plan.push.size(); ++i) {
    const std::size_t segment = plan.push.size() - 1 - i;
    const double extra = i == 0 ? costs.between : 0;
    const double factor =
        scale(plan.push[segment], extra, times.parts[plan.pull.size() + i], Duration(0), seen.backward);
    if (i == 0) seen.between = costs.between * factor;
  }
  seen.seconds = ToSeconds(times.settled - task.start - stream_wait);
  return seen;
}

DeviceReport ReportOf(const DeviceTimes& times, Duration stream_wait, Duration between, const RoundTimes& round) {
  const auto until_end = [&](std::vector<Busy> intervals) {
    for (Busy& busy : intervals) {
      busy.begin = std::clamp(busy.begin, round.start, round.end);
      busy.end = std::clamp(busy.end, busy.begin, round.end);
    }
    return intervals;
  };
  std::vector<Busy> parts = times.parts;
  if (!parts.empty()) parts[0].begin = std::min(parts[0].begin + stream_wait, parts[0].end);
  parts = until_end(std::move(parts));
  const std::vector<Busy> pulls = until_end(times.pulls), pushes = until_end(times.pushes);

  DeviceReport report;
  report.device = times.device;
  report.outcome = OutcomeOf(times.outcome);
  report.reason = ReasonOf(times.outcome);
  report.pull = Total(pulls);
  report.compute = Total(parts);
  report.push = Total(pushes);
  std::vector<Busy> all = pulls;
  all.insert(all.end(), parts.begin(), parts.end());
  all.insert(all.end(), pushes.begin(), pushes.end());
  const Duration covered = Covered(std::move(all));
  report.hidden = report.pull + report.compute + report.push - covered;
  report.wait = round.end - round.start - covered;
  const Duration forward = Total(std::span(parts).first(std::min(parts.size(), pulls.size())));
  report.hideable = std::min(report.pull, forward) +
                    std::min(report.push, std::max(Duration(0), report.compute - forward - between));
  report.down = times.pulled;
  report.up = times.pushed;
  return report;
}

}  // namespace tributary
