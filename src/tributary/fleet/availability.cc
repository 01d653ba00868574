#include "tributary/fleet/availability.h"

#include <sstream>

#include "tributary/base/distributions.h"
#include "tributary/base/rng.h"
#include "tributary/fleet/moment.h"

namespace tributary::inline fleet {
namespace {

constexpr int kMostSteps = 1'000'000;

Status CheckKind(const AvailabilityKind& kind) {
  std::ostringstream text;
  if (const double* share = std::get_if<double>(&kind)) {
    if (*share > 0 && *share <= 1) return OkStatus();
    text << "a constant share must be above 0 and at most 1, found " << *share;
  } else if (const RandomSteps* steps = std::get_if<RandomSteps>(&kind)) {
    if (steps->period <= Duration(0)) {
      text << "the period of random steps must be above 0, found " << ToSeconds(steps->period) << " s";
    } else if (!(steps->low >= 0 && steps->low <= steps->high && steps->high > 0 && steps->high <= 1)) {
      text << "random steps need 0 ≤ low ≤ high ≤ 1 and a high above 0, found low " << steps->low
           << " and high " << steps->high;
    } else {
      return OkStatus();
    }
  } else {
    TRIBUTARY_CHECK(std::get<std::shared_ptr<const Trace>>(kind) != nullptr);
    return OkStatus();
  }
  return InvalidArgument(text.str());
}

}  // namespace

StatusOr<Availability> Availability::Make(AvailabilityKind kind, std::uint64_t seed, DeviceId device) {
  TRIBUTARY_RETURN_IF_ERROR(CheckKind(kind));
  Availability availability;
  availability.kind_ = std::move(kind);
  availability.seed_ = seed;
  availability.device_ = device;
  return availability;
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
