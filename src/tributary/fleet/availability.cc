#include "tributary/fleet/availability.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/base/rng.h"

namespace tributary::inline fleet {
namespace {

// Converts to a TimePoint not before `start`, whatever the rounding; nothing beyond some 290 years.
std::optional<TimePoint> ToMoment(double nanoseconds, TimePoint start) {
  constexpr double kLast = 9.2e18;
  if (!(nanoseconds < kLast)) return std::nullopt;
  return std::max(start, TimePoint(std::llround(nanoseconds)));
}

double Nanoseconds(Duration duration) { return static_cast<double>(duration.count()); }

Status CheckStep(const std::vector<Trace::Step>& steps, std::size_t i) {
  const auto [from, share] = steps[i];
  const auto wrong = [i](const std::string& what) {
    return InvalidArgument(fmt::format("step {} of the trace {}", i, what));
  };
  if (!(share >= 0 && share <= 1))
    return wrong(fmt::format("has the share {:g}; a share lies between 0 and 1", share));
  if (i == 0 && from != TimePoint(0))
    return wrong(fmt::format("is at {:g} s; the first one must be at 0", ToSeconds(from)));
  if (i == 0 || from > steps[i - 1].from) return OkStatus();
  return wrong(fmt::format("is at {:g} s, not after the one before it, at {:g} s; times must rise",
                           ToSeconds(from), ToSeconds(steps[i - 1].from)));
}

constexpr int kMostSteps = 1'000'000;

Status CheckKind(const AvailabilityKind& kind) {
  if (const double* share = std::get_if<double>(&kind); share && !(*share > 0 && *share <= 1))
    return InvalidArgument(fmt::format("a constant share must be above 0 and at most 1, found {:g}", *share));
  if (const RandomSteps* steps = std::get_if<RandomSteps>(&kind)) {
    const auto [period, low, high] = *steps;
    if (period <= Duration(0)) {
      return InvalidArgument(
          fmt::format("the period of random steps must be above 0, found {:g} s", ToSeconds(period)));
    }
    if (!(low >= 0 && low <= high && high > 0 && high <= 1)) {
      return InvalidArgument(
          fmt::format("random steps need 0 ≤ low ≤ high ≤ 1 and a high above 0, found low {:g} and high {:g}",
                      low, high));
    }
  }
  if (const auto* trace = std::get_if<std::shared_ptr<const Trace>>(&kind))
    TRIBUTARY_CHECK(*trace != nullptr);
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
  return std::prev(std::ranges::upper_bound(steps_, time, {}, &Step::from))->share;
}

std::optional<TimePoint> Trace::Finish(TimePoint start, Duration at_full_rate) const {
  TRIBUTARY_CHECK(start >= TimePoint(0) && at_full_rate >= Duration(0));
  if (at_full_rate == Duration(0)) return start;
  const double work = Nanoseconds(at_full_rate);
  if (after_ == After::kRepeat) {
    const double once = done_.back();
    if (once <= 0) return std::nullopt;
    const double target = DoneAt(start % end()) + work;
    // The earliest time counts: work must not end after the idle rest of a pass if it ends before that.
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
  const auto next = std::ranges::upper_bound(steps_, time, {}, &Step::from);
  const auto i = static_cast<std::size_t>(next - steps_.begin()) - 1;
  return done_[i] + Nanoseconds(time - steps_[i].from) * steps_[i].share;
}

double Trace::MomentOf(double done) const {
  const auto reached = std::lower_bound(done_.begin(), done_.end(), done);
  if (reached == done_.end()) return Nanoseconds(end());  // rounding
  const auto i = static_cast<std::size_t>(reached - done_.begin());
  if (i == 0) return 0;
  // The share is not 0 here: done_ grows between i − 1 and i.
  return Nanoseconds(steps_[i - 1].from) + (done - done_[i - 1]) / steps_[i - 1].share;
}

StatusOr<Availability> Availability::Make(AvailabilityKind kind, std::uint64_t seed, DeviceId device) {
  TRIBUTARY_RETURN_IF_ERROR(CheckKind(kind));
  return Availability(std::move(kind), seed, device);
}

double Availability::At(TimePoint time) const {
  TRIBUTARY_CHECK(time >= TimePoint(0));
  if (const double* share = std::get_if<double>(&kind_)) return *share;
  if (const RandomSteps* steps = std::get_if<RandomSteps>(&kind_))
    return ShareOfStep(*steps, time / steps->period);
  return std::get<std::shared_ptr<const Trace>>(kind_)->At(time);
}

std::optional<TimePoint> Availability::Finish(TimePoint start, Duration at_full_rate) const {
  TRIBUTARY_CHECK(start >= TimePoint(0) && at_full_rate >= Duration(0));
  if (const double* share = std::get_if<double>(&kind_)) {
    const double needed = static_cast<double>(at_full_rate.count()) / *share;
    return ToMoment(static_cast<double>(start.count()) + needed, start);
  }
  if (const RandomSteps* steps = std::get_if<RandomSteps>(&kind_))
    return FinishSteps(*steps, start, at_full_rate);
  return std::get<std::shared_ptr<const Trace>>(kind_)->Finish(start, at_full_rate);
}

double Availability::ShareOfStep(const RandomSteps& steps, std::int64_t step) const {
  Rng rng = Rng::ForStream(seed_, device_, "availability", static_cast<std::uint64_t>(step));
  return Uniform(rng, steps.low, steps.high);
}

std::optional<TimePoint> Availability::FinishSteps(const RandomSteps& steps, TimePoint start,
                                                   Duration at_full_rate) const {
  auto left = static_cast<double>(at_full_rate.count());
  TimePoint now = start;
  for (int i = 0; i < kMostSteps && left > 0; ++i) {
    const std::int64_t step = now / steps.period;
    const double share = ShareOfStep(steps, step);
    const Duration rest = steps.period - now % steps.period;
    const double possible = static_cast<double>(rest.count()) * share;
    if (left <= possible) return ToMoment(static_cast<double>(now.count()) + left / share, now);
    if (now > TimePoint::max() - rest) return std::nullopt;
    left -= possible;
    now += rest;
  }
  if (left > 0) return std::nullopt;
  return now;
}

}  // namespace tributary::inline fleet
