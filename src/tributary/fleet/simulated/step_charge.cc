#include "tributary/fleet/simulated/step_charge.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/fleet/simulated/event_queue.h"

namespace tributary::inline simulated {
namespace {

constexpr double kLongest = 9e9;  // range of the clock, in seconds
constexpr double kBackward = 2;   // a backward pass through all layers, in forward passes

// In the order of DeviceOutcome.
constexpr std::pair<Outcome, const char*> kOutcomes[] = {
    {Outcome::kApplied, ""},
    {Outcome::kLate, "it arrived after the round had ended"},
    {Outcome::kLost, "it was not there"},
    {Outcome::kLost, "it vanished"},
    {Outcome::kCrashed, "it stopped in the middle of its upload"},
    {Outcome::kLost, "its update was lost on the way"},
    {Outcome::kLost, "it never finished"}};
static_assert(std::size(kOutcomes) == static_cast<std::size_t>(DeviceOutcome::kStuck) + 1);

Duration Total(std::span<const Busy> intervals) {
  Duration total{0};
  for (const Busy& busy : intervals) total += busy.end - busy.begin;
  return total;
}

// The time covered by at least one interval.
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

constexpr double kForward = 1.0 / 3;  // of a step; the backward pass takes twice as long

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
  for (const LayerRun& run : plan.pull) task.pull.push_back(Bytes{SumOver(run, unit_bytes)});
  for (std::size_t i = plan.push.size(); i-- > 0;)
    task.push.push_back(Bytes{SumOver(plan.push[i], unit_bytes)});
}

std::vector<Duration> PartsOf(const StepCosts& costs, const StepPlan& plan) {
  std::vector<double> ends;  // of the parts, cumulative
  double until = 0;
  for (const LayerRun& run : plan.pull) ends.push_back(until += SumOver(run, costs.forward));
  until += costs.between;
  for (std::size_t i = plan.push.size(); i-- > 0;)
    ends.push_back(until += SumOver(plan.push[i], costs.backward));
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
    for (std::size_t i = 0; i < messages.size(); ++i)
      out.push_back({1, static_cast<double>(sizes[i].value), ToSeconds(messages[i].end - messages[i].begin)});
  };
  moves(times.pulls, task.pull, seen.pulls);
  moves(times.pushes, task.push, seen.pushes);
  // A device times each layer; here a part's time is divided in proportion to the layers' expected times.
  seen.forward = costs.forward;
  seen.backward = costs.backward;
  const auto stretch = [&](const LayerRun& run, double extra, Duration taken, std::vector<double>& layers) {
    const double expected = SumOver(run, layers) + extra;
    const double factor = expected > 0 ? ToSeconds(taken) / expected : 1;
    for (std::size_t unit = run.first; unit <= run.last && unit < layers.size(); ++unit)
      layers[unit] *= factor;
    return factor;
  };
  const auto taken = [&](std::size_t part) {
    return times.parts[part].end - times.parts[part].begin - (part == 0 ? stream_wait : Duration(0));
  };
  for (std::size_t i = 0; i < plan.pull.size(); ++i) stretch(plan.pull[i], 0, taken(i), seen.forward);
  // With crossings the middle has its own parts; otherwise it is in the first part of the push.
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
  // Crossings are neither weights nor update, but take the link's time all the same.
  const auto with = [&](std::vector<Busy> some, const std::vector<Busy>& more) {
    some.insert(some.end(), more.begin(), more.end());
    return until_end(std::move(some));
  };
  const std::vector<Busy> pulls = with(times.pulls, times.downs), pushes = with(times.pushes, times.ups);

  DeviceReport report;
  report.device = times.device;
  const auto& [outcome, reason] = kOutcomes[static_cast<std::size_t>(times.outcome)];
  report.outcome = outcome;
  report.reason = reason;
  report.pull = Total(pulls);
  report.compute = Total(parts);
  report.push = Total(pushes);
  const Duration covered = Covered(with(with(pulls, parts), pushes));
  report.hidden = report.pull + report.compute + report.push - covered;
  report.wait = round.end - round.begin - covered;
  const Duration forward = Total(std::span(parts).first(std::min(parts.size(), times.pulls.size())));
  report.hideable = std::min(report.pull, forward) +
                    std::min(report.push, std::max(Duration(0), report.compute - forward - between));
  report.down = times.pulled;
  report.up = times.pushed + times.crossed_up;
  return report;
}

TimePoint SubnetworkWalk::Finish(TimePoint begin, double seconds) const {
  if (begin == kNever || !(seconds <= kLongest)) return kNever;
  return availability_.Finish(begin, FromSeconds(seconds)).value_or(kNever);
}

double SubnetworkWalk::Decide(TimePoint begin) {
  const std::size_t step = choice_.chosen().size();
  const Duration slot = StepSlot(work_.until - begin, work_.seconds.size() - step);
  const std::size_t entry = choice_.Next([&](const DropoutMenu::Entry& candidate) {
    const TimePoint end = Finish(begin, work_.seconds[step] * candidate.cost);
    return end != kNever && end - begin <= slot;
  });
  return share_ = choice_.menu().entries()[entry].cost;
}

TimePoint SubnetworkWalk::Middle(TimePoint begin) {
  const std::size_t steps = work_.seconds.size();
  if (steps == 1 || begin == kNever) return begin;
  TimePoint time = Finish(begin, (1 - kForward) * work_.seconds[0] * share_);
  for (std::size_t step = 1; step < steps && time != kNever; ++step) {
    const double seconds = work_.seconds[step] * Decide(time);
    time = Finish(time, step + 1 < steps ? seconds : kForward * seconds);
  }
  if (time != kNever) between_ = time - begin;
  return time;
}

TimePoint SubnetworkWalk::Part(std::size_t part, TimePoint begin) {
  const std::size_t pulls = work_.plan.pull.size(), pushes = work_.plan.push.size();
  TRIBUTARY_CHECK(part < pulls + pushes);
  if (part == 0) Decide(begin);
  if (part < pulls) return Finish(begin, SumOver(work_.plan.pull[part], work_.costs.forward) * share_);
  const LayerRun& run = work_.plan.push[pulls + pushes - 1 - part];
  const TimePoint start = part == pulls ? Middle(begin) : begin;
  return Finish(start, SumOver(run, work_.costs.backward) * share_);
}

}  // namespace tributary::inline simulated
