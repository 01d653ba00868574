#pragma once

#include <cstdint>
#include <span>

#include "tributary/model/model.h"
#include "tributary/policy/dropout/cost_model.h"

namespace tributary {

// What a sub-network costs for one sample, known from how many atoms of each group it keeps without making it. The whole
// network is looked at once, not for every question.
class ThinCosts {
 public:
  explicit ThinCosts(const Model& model);

  // Multiply-accumulates forward, just as NodeCosts counts them for the thin network.
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

}  // namespace tributary
