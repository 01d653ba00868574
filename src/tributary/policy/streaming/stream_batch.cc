#include "tributary/policy/streaming/stream_batch.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/base/names.h"

namespace tributary::inline policy {

std::string_view NameOf(BatchRule rule) { return rule == BatchRule::kFixed ? "fixed" : "stream-rate"; }

StatusOr<BatchRule> ParseBatchRule(std::string_view name) {
  return ParseName("batch rule", kBatchRules, name);
}

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
  switch (scaling) {
    case RateScaling::kNone:
      return "none";
    case RateScaling::kLinear:
      return "linear";
    case RateScaling::kSquareRoot:
      return "square-root";
  }
  return "";
}

StatusOr<RateScaling> ParseRateScaling(std::string_view name) {
  return ParseName("scaling", kRateScalings, name);
}

double RateFactor(const RateScalingOptions& options, double samples, double base) {
  TRIBUTARY_CHECK(samples > 0 && base > 0);
  double factor = 1;
  if (options.rule == RateScaling::kLinear) factor = samples / base;
  if (options.rule == RateScaling::kSquareRoot) factor = std::sqrt(samples / base);
  return options.most ? std::min(factor, *options.most) : factor;
}

}  // namespace tributary::inline policy
