#include "tributary/policy/streaming/rate_estimate.h"

#include "tributary/base/check.h"
#include "tributary/base/portable_math.h"

namespace tributary::inline policy {

RateEstimate::RateEstimate(RateEstimateOptions options) : options_(options) {
  TRIBUTARY_CHECK(options.memory > Duration(0) && options.warm_up >= Duration(0));
}

void RateEstimate::Observe(std::int64_t count, Duration interval) {
  TRIBUTARY_CHECK(count >= 0 && interval >= Duration(0));
  if (interval == Duration(0)) {
    arrivals_ += static_cast<double>(count);
    return;
  }
  const double memory = ToSeconds(options_.memory);
  const double seconds = ToSeconds(interval);
  const double kept = PortableExp(-seconds / memory);
  // The integral of the weights over the interval, newest weight 1. For intervals far below the memory 1 − e^−x loses
  // its digits; there the integral is the interval itself.
  const double weight = seconds < 1e-6 * memory ? seconds : memory * (1 - kept);
  arrivals_ = arrivals_ * kept + static_cast<double>(count) * weight / seconds;
  time_ = time_ * kept + weight;
  observed_ += interval;
}

std::optional<SamplesPerSecond> RateEstimate::rate() const {
  if (observed_ < options_.warm_up || time_ <= 0) return std::nullopt;
  return SamplesPerSecond{arrivals_ / time_};
}

}  // namespace tributary::inline policy
