#pragma once

#include <cstdint>
#include <span>

#include "tributary/base/status.h"
#include "tributary/model/model.h"

namespace tributary::inline policy {

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

// What a sub-network costs for one sample, known from how many atoms of each group it keeps without making it. The whole
// network is looked at once, not for every question.
class SubnetworkCosts {
 public:
  explicit SubnetworkCosts(const Model& model);

  // Multiply-accumulates forward, just as NodeCosts counts them for the sub-network.
  std::int64_t MacsOf(std::span<const std::int64_t> kept) const;
  // Of a whole training step for one sample: three forward passes' worth of multiply-accumulates, and the bytes of all
  // outputs.
  CostFeatures FeaturesOf(std::span<const std::int64_t> kept) const;

 private:
  // Channels that are never dropped, and for each group how many there are per atom.
  struct Channels {
    std::int64_t fixed = 0;
    std::vector<std::pair<std::size_t, std::int64_t>> of_groups;  // group, channels per atom
    std::int64_t Left(std::span<const std::int64_t> kept) const {
      std::int64_t left = fixed;
      for (const auto& [group, each] : of_groups) left += kept[group] * each;
      return left;
    }
  };
  // macs = each · channels out · channels in; each block of a grouped convolution reads its own only.
  struct Layer {
    std::int64_t each = 0;
    Channels out, in;
    bool blocks = false;
  };
  struct Output {
    std::int64_t bytes = 0;  // of a channel
    Channels channels;
  };

  std::vector<Layer> layers_;
  std::vector<Output> outputs_;
};

}  // namespace tributary::inline policy
