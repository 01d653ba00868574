#include "tributary/data/arrivals.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "tributary/base/check.h"
#include "tributary/base/portable_math.h"

namespace tributary::inline data {
namespace {

constexpr double kTau = 6.283185307179586476925286766559;
// Compensates for sums that miss a whole number by rounding errors.
constexpr double kRounding = 1e-6;
constexpr Duration kLongest = std::chrono::hours(24 * 365 * 30);
constexpr Duration kShortest = std::chrono::milliseconds(1);

bool IsFactor(double factor) { return std::isfinite(factor) && factor >= 0; }

std::string FaultOf(const RateProgramme::Hold& hold) {
  return IsFactor(hold.factor) ? "" : "a factor is 0 or more";
}
std::string FaultOf(const RateProgramme::Drift& drift) {
  return IsFactor(drift.from) && IsFactor(drift.to) ? "" : "a factor is 0 or more";
}
std::string FaultOf(const RateProgramme::Sine& sine) {
  if (!(sine.amplitude >= 0 && sine.amplitude <= 1)) return "the amplitude of a sine lies in 0 to 1";
  return sine.period > Duration(0) ? "" : "a period is longer than 0";
}
std::string FaultOf(const RateProgramme::Burst& burst) {
  if (!IsFactor(burst.factor)) return "a factor is 0 or more";
  if (burst.period <= Duration(0)) return "a period is longer than 0";
  return burst.on >= Duration(0) && burst.on <= burst.period ? "" : "a burst is no longer than its period";
}

// The integral of the factor over the first `time` of a step, in seconds.
double Integral(const RateProgramme::Hold& hold, Duration time, Duration) {
  return hold.factor * ToSeconds(time);
}
double Integral(const RateProgramme::Drift& drift, Duration time, Duration lasts) {
  const double seconds = ToSeconds(time);
  return seconds * (drift.from + 0.5 * (drift.to - drift.from) * (seconds / ToSeconds(lasts)));
}
double Integral(const RateProgramme::Sine& sine, Duration time, Duration) {
  const double turns = ToSeconds(time % sine.period) / ToSeconds(sine.period);
  return ToSeconds(time) + sine.amplitude * ToSeconds(sine.period) / kTau * (1 - PortableCosine(turns));
}
double Integral(const RateProgramme::Burst& burst, Duration time, Duration) {
  const auto periods = time / burst.period;
  const Duration on = burst.on * periods + std::min(time % burst.period, burst.on);
  return burst.factor * ToSeconds(on) + ToSeconds(time - on);
}

double Worth(const RateProgramme::Step& step, Duration time) {
  return std::visit([&](const auto& form) { return Integral(form, time, step.lasts); }, step.form);
}

}  // namespace

StatusOr<RateProgramme> RateProgramme::Make(SamplesPerSecond rate, std::vector<Step> steps, After after) {
  if (!IsFactor(rate.value))
    return InvalidArgument(fmt::format("a rate of {:f} samples/s; allowed: 0 or more", rate.value));
  Duration total{0};
  for (std::size_t i = 0; i < steps.size(); ++i) {
    std::string fault = std::visit([](const auto& form) { return FaultOf(form); }, steps[i].form);
    const bool endless = steps[i].lasts == kForever;
    if (fault.empty() && endless && std::holds_alternative<Drift>(steps[i].form))
      fault = "a drift needs a length";
    if (fault.empty() && endless && (i + 1 < steps.size() || after == After::kRepeat))
      fault = "no step can follow an endless step";
    if (fault.empty() && !endless && (steps[i].lasts <= Duration(0) || steps[i].lasts > kLongest - total))
      fault = "a step lasts longer than 0, and all together at most thirty years";
    if (!fault.empty()) return InvalidArgument(fmt::format("step {} of the programme: {}", i + 1, fault));
    if (!endless) total += steps[i].lasts;
  }
  return RateProgramme(rate, std::move(steps), after);
}

RateProgramme::RateProgramme(SamplesPerSecond rate, std::vector<Step> steps, After after)
    : rate_(rate), steps_(std::move(steps)), after_(after), starts_{Duration(0)}, done_{0.0} {
  for (const Step& step : steps_) {
    if (step.lasts == kForever) {
      starts_.push_back(kForever);
      done_.push_back(0);  // Never reached.
    } else {
      starts_.push_back(starts_.back() + step.lasts);
      done_.push_back(done_.back() + Worth(step, step.lasts));
    }
  }
}

std::int64_t RateProgramme::Arrived(TimePoint time) const {
  if (time <= TimePoint(0)) return 0;
  double worth = 0;
  const Duration end = starts_.back();
  if (after_ == After::kRepeat && end > Duration(0)) {
    worth = done_.back() * static_cast<double>(time / end);
    time %= end;
  }
  if (time >= end) {
    worth += done_.back() + ToSeconds(time - end);
  } else {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), time);
    const auto step = static_cast<std::size_t>(next - starts_.begin()) - 1;
    worth += done_[step] + Worth(steps_[step], time - starts_[step]);
  }
  // Far more than any stream delivers, and well within the integer range.
  constexpr double kMost = 1e18;
  return static_cast<std::int64_t>(std::min(kMost, std::floor(rate_.value * worth + kRounding)));
}

std::optional<TimePoint> RateProgramme::TimeOf(std::int64_t count) const {
  if (count <= 0) return TimePoint(0);
  TimePoint late = std::chrono::seconds(1);
  while (Arrived(late) < count) {
    if (late >= kLongest) return std::nullopt;
    late *= 2;
  }
  TimePoint early = late == std::chrono::seconds(1) ? TimePoint(0) : late / 2;
  while (late - early > TimePoint(1)) {
    const TimePoint middle = early + (late - early) / 2;
    (Arrived(middle) < count ? early : late) = middle;
  }
  return late;
}

RecordedTimes::RecordedTimes(std::vector<Duration> times, double speed) : times_(std::move(times)) {
  TRIBUTARY_CHECK(!times_.empty() && speed > 0);
  TRIBUTARY_CHECK(times_.front() >= Duration(0) && std::is_sorted(times_.begin(), times_.end()));
  for (Duration& time : times_) time = FromSeconds(std::min(ToSeconds(time) / speed, ToSeconds(kLongest)));
  length_ = std::max(times_.back(), kShortest);
}

std::int64_t RecordedTimes::Arrived(TimePoint time) const {
  if (time < TimePoint(0)) return 0;
  const auto whole = time / length_;
  const auto rest = std::upper_bound(times_.begin(), times_.end(), time % length_) - times_.begin();
  return whole * static_cast<std::int64_t>(times_.size()) + rest;
}

std::optional<TimePoint> RecordedTimes::TimeOf(std::int64_t count) const {
  if (count <= 0) return TimePoint(0);
  const auto size = static_cast<std::int64_t>(times_.size());
  const std::int64_t whole = (count - 1) / size;
  if (whole >= kLongest / length_) return std::nullopt;
  const TimePoint time = whole * length_ + times_[static_cast<std::size_t>((count - 1) % size)];
  return time < kLongest ? std::optional(time) : std::nullopt;
}

}  // namespace tributary::inline data
