#include "tributary/policy/streaming/stream_batch.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/base/names.h"
#include "tributary/base/portable_math.h"

namespace tributary::inline policy {

StreamBatch NextBatch(const StreamBatchOptions& options, std::size_t fixed, SamplesPerSecond rate) {
  StreamBatch batch{fixed, Duration::max()};
  if (!(rate.value > 0)) return batch;
  if (options.rule == BatchRule::kStreamRate) {
    const double samples = std::round(rate.value * ToSeconds(options.window));
    batch.samples = static_cast<std::size_t>(
        std::clamp(samples, static_cast<double>(options.smallest), static_cast<double>(options.largest)));
  }
  constexpr double kLongest = 9e9;
  const double seconds = static_cast<double>(batch.samples) / rate.value;
  if (seconds < kLongest) batch.wait = FromSeconds(seconds);
  return batch;
}

std::string_view NameOf(RateScaling scaling) {
  constexpr std::string_view kNames[] = {"none", "linear", "square-root"};
  return kNames[static_cast<std::size_t>(scaling)];
}

double RateFactor(const RateScalingOptions& options, double samples, double base) {
  TRIBUTARY_CHECK(samples > 0 && base > 0);
  double factor = 1;
  if (options.rule == RateScaling::kLinear) factor = samples / base;
  if (options.rule == RateScaling::kSquareRoot) factor = std::sqrt(samples / base);
  return options.most ? std::min(factor, *options.most) : factor;
}

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
  // The integral of the weights over the interval; the newest weight is 1. For intervals far below the
  // memory, 1 − e^−x loses its digits; the integral is then the interval itself.
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
