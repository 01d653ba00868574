#pragma once

#include <cstdint>
#include <optional>

#include "tributary/base/clock.h"
#include "tributary/base/units.h"

namespace tributary::inline policy {

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
  Duration observed() const { return observed_; }

 private:
  RateEstimateOptions options_;
  double arrivals_ = 0;  // Discounted count.
  double time_ = 0;      // Discounted seconds.
  Duration observed_{0};
};

}  // namespace tributary::inline policy
