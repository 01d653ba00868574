#include "tributary/fleet/trace.h"

#include <algorithm>
#include <cmath>
#include <sstream>

#include "tributary/fleet/moment.h"

namespace tributary::inline fleet {
namespace {

double Nanoseconds(Duration duration) { return static_cast<double>(duration.count()); }

Status CheckStep(const std::vector<Trace::Step>& steps, std::size_t i) {
  const Trace::Step& step = steps[i];
  std::ostringstream text;
  text << "step " << i << " of the trace ";
  if (!(step.share >= 0 && step.share <= 1)) {
    text << "has the share " << step.share << "; a share lies between 0 and 1";
    return InvalidArgument(text.str());
  }
  if (i == 0 && step.from != TimePoint(0)) {
    text << "is at " << ToSeconds(step.from) << " s; the first one must be at 0";
    return InvalidArgument(text.str());
  }
  if (i > 0 && step.from <= steps[i - 1].from) {
    text << "is at " << ToSeconds(step.from) << " s, not after the one before it, at "
         << ToSeconds(steps[i - 1].from) << " s; times must rise";
    return InvalidArgument(text.str());
  }
  return OkStatus();
}

}  // namespace

StatusOr<std::shared_ptr<const Trace>> Trace::Make(std::vector<Step> steps, After after) {
  if (steps.empty()) return InvalidArgument("the trace has no steps; it needs at least one, at time 0");
  for (std::size_t i = 0; i < steps.size(); ++i) TRIBUTARY_RETURN_IF_ERROR(CheckStep(steps, i));
  if (after != After::kHold && steps.size() < 2) {
    return InvalidArgument(
        "the trace has one step only, so it lasts no time; add the moment at which it ends");
  }
  return std::shared_ptr<const Trace>(new Trace(std::move(steps), after));
}

Trace::Trace(std::vector<Step> steps, After after) : steps_(std::move(steps)), after_(after) {
  done_.reserve(steps_.size());
  double done = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    done_.push_back(done);
    if (i + 1 < steps_.size()) done += Nanoseconds(steps_[i + 1].from - steps_[i].from) * steps_[i].share;
  }
}

double Trace::At(TimePoint time) const {
  TRIBUTARY_CHECK(time >= TimePoint(0));
  if (time >= end()) {
    if (after_ == After::kEnd) return 0;
    if (after_ == After::kHold) return steps_.back().share;
    time %= end();
  }
  const auto next = std::upper_bound(steps_.begin(), steps_.end(), time,
                                     [](TimePoint moment, const Step& step) { return moment < step.from; });
  return std::prev(next)->share;
}

std::optional<TimePoint> Trace::Finish(TimePoint start, Duration at_full_rate) const {
  TRIBUTARY_CHECK(start >= TimePoint(0) && at_full_rate >= Duration(0));
  if (at_full_rate == Duration(0)) return start;
  const double work = Nanoseconds(at_full_rate);
  if (after_ == After::kRepeat) {
    const double once = done_.back();
    if (once <= 0) return std::nullopt;
    const double target = DoneAt(start % end()) + work;
    // The earliest moment counts: work that is done with the last full share of a pass is not done after the idle rest.
    const double passes = std::ceil(target / once) - 1;
    const double base = (static_cast<double>(start / end()) + passes) * Nanoseconds(end());
    return ToMoment(base + MomentOf(target - passes * once), start);
  }
  const double before = start < end() ? DoneAt(start) : done_.back();
  if (before + work <= done_.back()) return ToMoment(MomentOf(before + work), start);
  if (after_ == After::kEnd || steps_.back().share <= 0) return std::nullopt;
  const double left = before + work - done_.back();
  return ToMoment(Nanoseconds(std::max(start, end())) + left / steps_.back().share, start);
}

double Trace::DoneAt(TimePoint time) const {
  const auto next = std::upper_bound(steps_.begin(), steps_.end(), time,
                                     [](TimePoint moment, const Step& step) { return moment < step.from; });
  const auto i = static_cast<std::size_t>(next - steps_.begin()) - 1;
  return done_[i] + Nanoseconds(time - steps_[i].from) * steps_[i].share;
}

double Trace::MomentOf(double done) const {
  const auto reached = std::lower_bound(done_.begin(), done_.end(), done);
  if (reached == done_.end()) return Nanoseconds(end());  // by a rounding beyond the last
  const auto i = static_cast<std::size_t>(reached - done_.begin());
  if (i == 0) return 0;
  // The share is not 0 here: the amount done grows between i − 1 and i.
  return Nanoseconds(steps_[i - 1].from) + (done - done_[i - 1]) / steps_[i - 1].share;
}

}  // namespace tributary::inline fleet
