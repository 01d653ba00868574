#include "tributary/fleet/simulated/step_charge.h"

#include <algorithm>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary::inline simulated {
namespace {

constexpr double kLongest = 9e9;  // what the clock can hold, in seconds
// Going back through all layers takes the forward pass twice: what a pass is counted by where none is frozen.
constexpr double kBackward = 2;

// A network without weights has no units, and its plan's one run is empty.
template <typename Value>
Value Sum(std::span<const Value> values, const LayerRun& run) {
  Value sum{};
  for (std::size_t unit = run.first; unit <= run.last && unit < values.size(); ++unit) sum += values[unit];
  return sum;
}
double Sum(const std::vector<double>& values, const LayerRun& run) { return Sum(std::span(values), run); }

Outcome OutcomeOf(DeviceOutcome outcome) {
  switch (outcome) {
    case DeviceOutcome::kArrived:
      return Outcome::kApplied;
    case DeviceOutcome::kLate:
      return Outcome::kLate;
    case DeviceOutcome::kCrashed:
      return Outcome::kCrashed;
    case DeviceOutcome::kAbsent:
    case DeviceOutcome::kVanished:
    case DeviceOutcome::kLost:
    case DeviceOutcome::kStuck:
      return Outcome::kLost;
  }
  return Outcome::kLost;
}

std::string ReasonOf(DeviceOutcome outcome) {
  switch (outcome) {
    case DeviceOutcome::kArrived:
      return "";
    case DeviceOutcome::kLate:
      return "it arrived after the round had ended";
    case DeviceOutcome::kCrashed:
      return "it broke off in the middle of its upload";
    case DeviceOutcome::kAbsent:
      return "it was not there";
    case DeviceOutcome::kVanished:
      return "it vanished";
    case DeviceOutcome::kLost:
      return "its update was lost on the way";
    case DeviceOutcome::kStuck:
      return "it never finished";
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

StepCharge::StepCharge(const Model& charged) {
  UnitCosts costs = CostsOfUnits(charged);
  macs_ = std::move(costs.macs);
  backward_ = std::move(costs.backward);
  const double forward = std::accumulate(macs_.begin(), macs_.end(), 0.0);
  pass_macs_ = (forward + std::accumulate(backward_.begin(), backward_.end(), 0.0)) / (1 + kBackward);
  unit_bytes_ = std::make_shared<const std::vector<std::int64_t>>(std::move(costs.bytes));
}

StepCosts StepCharge::Costs(const DeviceProfile& profile, const StepWork& work) const {
  StepCosts costs;
  const double per_mac = work.slow / profile.compute.value;
  for (std::size_t unit = 0; unit < macs_.size(); ++unit) {
    costs.forward.push_back(work.first * macs_[unit] * per_mac);
    costs.backward.push_back(work.last * backward_[unit] * per_mac);
  }
  costs.between = std::max(0.0, work.passes - work.first - kBackward * work.last) * pass_macs_ * per_mac;
  costs.pull_setup = costs.push_setup = ToSeconds(profile.setup + profile.round_trip / 2);
  costs.pull_per_byte = 8 / profile.downlink.value;
  costs.push_per_byte = 8 / profile.uplink.value;
  return costs;
}

StepPlan StepCharge::Whole() const {
  const LayerRun all{0, std::max<std::size_t>(macs_.size(), 1) - 1};
  return {{all}, {all}, 0};
}

void SegmentTask(const StepPlan& plan, std::span<const std::int64_t> unit_bytes, DeviceTask& task) {
  task.pull.clear();
  task.push.clear();
  for (const LayerRun& run : plan.pull) task.pull.push_back(Bytes{Sum(unit_bytes, run)});
  for (std::size_t i = plan.push.size(); i-- > 0;) task.push.push_back(Bytes{Sum(unit_bytes, plan.push[i])});
}

std::vector<Duration> PartsOf(const StepCosts& costs, const StepPlan& plan) {
  std::vector<double> ends;  // of the parts, one after the other
  double until = 0;
  for (const LayerRun& run : plan.pull) ends.push_back(until += Sum(costs.forward, run));
  until += costs.between;
  for (std::size_t i = plan.push.size(); i-- > 0;) ends.push_back(until += Sum(costs.backward, plan.push[i]));
  if (!(until <= kLongest)) return {};
  std::vector<Duration> parts;
  Duration before{0};
  for (const double end : ends) {
    parts.push_back(FromSeconds(end) - before);
    before = FromSeconds(end);
  }
  return parts;
}

StepObservation ObservationOf(const DeviceTimes& times, Duration stream_wait, const StepPlan& plan,
                              const DeviceTask& task, const StepCosts& costs) {
  StepObservation seen;
  const auto moves = [](const std::vector<Busy>& messages, const std::vector<Bytes>& sizes, auto& out) {
    for (std::size_t i = 0; i < messages.size(); ++i) {
      out.push_back({1, static_cast<double>(sizes[i].value), ToSeconds(messages[i].end - messages[i].begin)});
    }
  };
  moves(times.pulls, task.pull, seen.pulls);
  moves(times.pushes, task.push, seen.pushes);
  // A device times each layer; here a part's time is its layers' in proportion to what they should take.
  seen.forward = costs.forward;
  seen.backward = costs.backward;
  const auto stretch = [&](const LayerRun& run, double extra, Duration taken, std::vector<double>& layers) {
    const double expected = Sum(layers, run) + extra;
    const double factor = expected > 0 ? ToSeconds(taken) / expected : 1;
    for (std::size_t unit = run.first; unit <= run.last && unit < layers.size(); ++unit)
      layers[unit] *= factor;
    return factor;
  };
  const auto taken = [&](std::size_t part) {
    return times.parts[part].end - times.parts[part].begin - (part == 0 ? stream_wait : Duration(0));
  };
  for (std::size_t i = 0; i < plan.pull.size(); ++i) stretch(plan.pull[i], 0, taken(i), seen.forward);
  // Where a network is cut, what lies between has parts of its own; otherwise it is in the first of the push's.
  const std::size_t middle = times.parts.size() - plan.pull.size() - plan.push.size();
  for (std::size_t i = 0; i < middle; ++i) seen.between += ToSeconds(taken(plan.pull.size() + i));
  for (std::size_t i = 0; i < plan.push.size(); ++i) {
    const double extra = i == 0 && middle == 0 ? costs.between : 0;
    const Duration part = taken(plan.pull.size() + middle + i);
    const double factor = stretch(plan.push[plan.push.size() - 1 - i], extra, part, seen.backward);
    if (i == 0 && middle == 0) seen.between = costs.between * factor;
  }
  seen.seconds = ToSeconds(times.settled - task.start - stream_wait);
  return seen;
}

DeviceReport ReportOf(const DeviceTimes& times, Duration stream_wait, Duration between, const Busy& round) {
  const auto until_end = [&](std::vector<Busy> intervals) {
    for (Busy& busy : intervals) {
      busy.begin = std::clamp(busy.begin, round.begin, round.end);
      busy.end = std::clamp(busy.end, busy.begin, round.end);
    }
    return intervals;
  };
  std::vector<Busy> parts = times.parts;
  if (!parts.empty()) parts[0].begin = std::min(parts[0].begin + stream_wait, parts[0].end);
  parts = until_end(std::move(parts));
  // What comes and goes over a cut is neither weights nor update, but the link's time all the same.
  const auto with = [&](std::vector<Busy> some, const std::vector<Busy>& more) {
    some.insert(some.end(), more.begin(), more.end());
    return until_end(std::move(some));
  };
  const std::vector<Busy> pulls = with(times.pulls, times.downs), pushes = with(times.pushes, times.ups);

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
  report.wait = round.end - round.begin - covered;
  const Duration forward = Total(std::span(parts).first(std::min(parts.size(), times.pulls.size())));
  report.hideable = std::min(report.pull, forward) +
                    std::min(report.push, std::max(Duration(0), report.compute - forward - between));
  report.down = times.pulled;
  report.up = times.pushed + times.crossed_up;
  return report;
}

}  // namespace tributary::inline simulated
