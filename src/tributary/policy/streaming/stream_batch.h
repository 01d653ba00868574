#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"

namespace tributary::inline policy {

// How large a device's batch is when its samples arrive as a stream.
enum class BatchRule {
  kFixed,       // the experiment's batch, whatever the rate: a slow stream is waited for
  kStreamRate,  // what arrives within a window: every device is ready at about the same time
};
inline constexpr BatchRule kBatchRules[] = {BatchRule::kFixed, BatchRule::kStreamRate};
constexpr std::string_view NameOf(BatchRule rule) {
  return rule == BatchRule::kFixed ? "fixed" : "stream-rate";
}

struct StreamBatchOptions {
  BatchRule rule = BatchRule::kFixed;
  // stream-rate: samples of so long a time make a batch. Shorter keeps batches small and steps frequent; where steps
  // take longer than it, samples are left over.
  Duration window = std::chrono::seconds(1);
  // stream-rate: the batch is kept within these. A stream that brings less than `smallest` in a window is waited for.
  std::size_t smallest = 8;
  std::size_t largest = 1024;

  friend bool operator==(const StreamBatchOptions&, const StreamBatchOptions&) = default;
};

struct StreamBatch {
  std::size_t samples = 0;
  Duration wait{
      0};  // until they are there, if none are now; the longest there is for a stream that stands still
};

// The next batch of a device whose stream runs at this rate. Without a rate, which nobody knows before some samples have
// come, and under `fixed`, it is `fixed` samples; so is that of a stream that stands still, which may go on.
StreamBatch NextBatch(const StreamBatchOptions& options, std::size_t fixed, SamplesPerSecond rate);

// How a learning rate that was found for one global batch is changed for another.
enum class RateScaling {
  kNone,        // not at all
  kLinear,      // in proportion: right for small changes, too bold when batches are very large
  kSquareRoot,  // by the root: the noise of a step stays as it was
};
inline constexpr RateScaling kRateScalings[] = {RateScaling::kNone, RateScaling::kLinear,
                                                RateScaling::kSquareRoot};
std::string_view NameOf(RateScaling scaling);

struct RateScalingOptions {
  RateScaling rule = RateScaling::kNone;
  // The factor is never above this: beyond some batch, larger steps gain nothing and training loses its way.
  std::optional<double> most;

  friend bool operator==(const RateScalingOptions&, const RateScalingOptions&) = default;
};

// What the learning rate of a base batch is multiplied by for a step over so many samples. Both are above 0.
double RateFactor(const RateScalingOptions& options, double samples, double base);

struct RateEstimateOptions {
  // How far back the estimate looks: what came so long ago weighs 1/e of what comes now. Longer is calmer, shorter
  // follows sooner: after a step the estimate is 5 % off after three of them. Above 0.
  Duration memory = std::chrono::seconds(10);
  // Nothing is said before so much time was seen: the first moments may be a burst of what had piled up.
  Duration warm_up = std::chrono::seconds(1);
};

// How fast a stream runs, from what came and when, and from nothing else: no configured rate enters it.
//
// Assumes that what an observation counts came evenly over its interval. The estimate is arrivals over time, both
// forgotten exponentially; so it is exact for a steady stream however it is cut into observations, has no bias at the
// start, sees a burst as so many samples within its memory and not as a rate, and falls to 0 when the stream stops.
class RateEstimate {
 public:
  explicit RateEstimate(RateEstimateOptions options = {});

  // `count` samples came in the `interval` that ends now and begins where the last observation ended. Neither is
  // negative; an interval of 0 adds to the one before.
  void Observe(std::int64_t count, Duration interval);

  // Nothing before the warm-up.
  std::optional<SamplesPerSecond> rate() const;

 private:
  RateEstimateOptions options_;
  double arrivals_ = 0;  // Discounted count.
  double time_ = 0;      // Discounted seconds.
  Duration observed_{0};
};

}  // namespace tributary::inline policy
