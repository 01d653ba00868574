#include "tributary/fleet/simulated/subnetwork_walk.h"

#include "tributary/base/check.h"
#include "tributary/fleet/simulated/event_queue.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline simulated {
namespace {

constexpr double kLongestWalk = 9e9;  // what the clock can hold, in seconds
constexpr double kForward = 1.0 / 3;  // of a step; going back takes twice as long

double SecondsOf(std::span<const double> units, const LayerRun& run) {
  double seconds = 0;
  for (std::size_t unit = run.first; unit <= run.last && unit < units.size(); ++unit) seconds += units[unit];
  return seconds;
}

}  // namespace

TimePoint SubnetworkWalk::Finish(TimePoint begin, double seconds) const {
  if (begin == kNever || !(seconds <= kLongestWalk)) return kNever;
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
  if (part < pulls) return Finish(begin, SecondsOf(work_.costs.forward, work_.plan.pull[part]) * share_);
  const LayerRun& run = work_.plan.push[pulls + pushes - 1 - part];
  const TimePoint start = part == pulls ? Middle(begin) : begin;
  return Finish(start, SecondsOf(work_.costs.backward, run) * share_);
}

}  // namespace tributary::inline simulated
