#pragma once

#include <span>

#include "tributary/base/status.h"

namespace tributary {

// What a training step on a sub-network takes, from two counts that follow from which channels are kept. Operations
// alone are a poor guide: thin layers are bound by the memory that they move.
struct CostFeatures {
  double macs = 0;         // of a step
  double activations = 0;  // bytes that its layers read and write
};

struct CostMeasurement {
  CostFeatures features;
  double seconds = 0;
};

// seconds = fixed + per_mac · macs + per_byte · activations, no term of which is negative: so what is part of a
// sub-network is never thought slower than it.
struct CostModel {
  double fixed = 0;
  double per_mac = 0;
  double per_byte = 0;

  double Seconds(const CostFeatures& features) const {
    return fixed + per_mac * features.macs + per_byte * features.activations;
  }
};

// The model whose relative errors have the least sum of squares. Of terms that the measurements cannot tell apart
// (always in the same proportion to each other) only one is used. An error in words for fewer than three measurements,
// for ones that all have the same features, for features that are negative or not finite and for times not above 0.
StatusOr<CostModel> FitCostModel(std::span<const CostMeasurement> measurements);

}  // namespace tributary
