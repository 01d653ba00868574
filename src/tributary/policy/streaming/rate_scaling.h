#pragma once

#include <optional>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary {

// How a learning rate that was found for one global batch is changed for another.
enum class RateScaling {
  kNone,        // not at all
  kLinear,      // in proportion: right for small changes, too bold when batches are very large
  kSquareRoot,  // by the root: the noise of a step stays as it was
};
inline constexpr RateScaling kRateScalings[] = {RateScaling::kNone, RateScaling::kLinear,
                                                RateScaling::kSquareRoot};
std::string_view NameOf(RateScaling scaling);
StatusOr<RateScaling> ParseRateScaling(std::string_view name);

struct RateScalingOptions {
  RateScaling rule = RateScaling::kNone;
  // The factor is never above this: beyond some batch, larger steps gain nothing and training loses its way.
  std::optional<double> most;

  friend bool operator==(const RateScalingOptions&, const RateScalingOptions&) = default;
};

// What the learning rate of a base batch is multiplied by for a step over so many samples. Both are above 0.
double RateFactor(const RateScalingOptions& options, double samples, double base);

}  // namespace tributary
