#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"

namespace tributary::inline policy {

// How the batch size of a device is chosen when its samples arrive as a stream.
enum class BatchRule {
  kFixed,       // the experiment's batch; the device waits for a slow stream
  kStreamRate,  // the samples of one window: all devices are ready at about the same time
};
inline constexpr BatchRule kBatchRules[] = {BatchRule::kFixed, BatchRule::kStreamRate};
constexpr std::string_view NameOf(BatchRule rule) {
  return rule == BatchRule::kFixed ? "fixed" : "stream-rate";
}

struct StreamBatchOptions {
  BatchRule rule = BatchRule::kFixed;
  // stream-rate: the batch is the samples of this duration. A shorter window gives smaller batches and more
  // steps; if a step takes longer than the window, samples accumulate.
  Duration window = std::chrono::seconds(1);
  // stream-rate: bounds of the batch. The device waits if a window brings less than `smallest`.
  std::size_t smallest = 8;
  std::size_t largest = 1024;
  friend bool operator==(const StreamBatchOptions&, const StreamBatchOptions&) = default;
};

struct StreamBatch {
  std::size_t samples = 0;
  // Until the batch has arrived, from an empty buffer; Duration::max() if the stream has stopped.
  Duration wait{0};
};

// The next batch of a device whose stream has this rate. With rule `fixed`, without a rate (before the first
// estimate) and for a stopped stream, which may resume, the batch is `fixed` samples.
StreamBatch NextBatch(const StreamBatchOptions& options, std::size_t fixed, SamplesPerSecond rate);

// How a learning rate tuned for one global batch is scaled for another.
enum class RateScaling {
  kNone,
  kLinear,      // proportional: accurate for small changes, too large for very large batches
  kSquareRoot,  // by the square root: keeps the gradient noise of a step constant
};
inline constexpr RateScaling kRateScalings[] = {RateScaling::kNone, RateScaling::kLinear,
                                                RateScaling::kSquareRoot};
std::string_view NameOf(RateScaling scaling);

struct RateScalingOptions {
  RateScaling rule = RateScaling::kNone;
  // Maximum of the factor: above some batch size, larger steps do not help and training diverges.
  std::optional<double> most;
  friend bool operator==(const RateScalingOptions&, const RateScalingOptions&) = default;
};

// The factor on the base batch's learning rate for a step over `samples` samples. Both are above 0.
double RateFactor(const RateScalingOptions& options, double samples, double base);

struct RateEstimateOptions {
  // Time constant: a sample this old has weight 1/e. A longer memory is smoother, a shorter one reacts
  // sooner. After a change of rate, the estimate is 5 % off after three time constants. Above 0.
  Duration memory = std::chrono::seconds(10);
  // No estimate before this observed time: the first samples may be an accumulated burst.
  Duration warm_up = std::chrono::seconds(1);
};

// Estimates a stream's rate from the observed arrivals alone.
//
// Assumes that the samples of an observation arrived evenly over its interval. The estimate is arrivals over
// time, both exponentially discounted. So it is exact for a steady stream, whatever the intervals, is
// unbiased from the start, spreads a burst over the memory, and falls to 0 when the stream stops.
class RateEstimate {
 public:
  explicit RateEstimate(RateEstimateOptions options = {});

  // `count` samples arrived in the `interval` that ends now and begins where the last observation ended.
  // Neither is negative; an interval of 0 adds to the previous one.
  void Observe(std::int64_t count, Duration interval);

  // Empty before the warm-up.
  std::optional<SamplesPerSecond> rate() const;

 private:
  RateEstimateOptions options_;
  double arrivals_ = 0;  // discounted count
  double time_ = 0;      // discounted seconds
  Duration observed_{0};
};

}  // namespace tributary::inline policy
