#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

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

// What steps cost on this device, learnt from those it has done: at first what is known from elsewhere, in the proportion of
// what was measured here; once there have been enough different ones, a model of its own.
class LiveCost {
 public:
  explicit LiveCost(const CostModel& known) : known_(known), model_(known) {}

  // A step with these features took so long. What makes no sense is passed over.
  void Observe(const CostMeasurement& seen);

  const CostModel& model() const { return model_; }

 private:
  static constexpr std::size_t kMost = 128;   // remembered
  static constexpr std::size_t kEvery = 16;   // observations between two fits
  static constexpr std::size_t kEnough = 24;  // for a model of its own

  void Fit();

  const CostModel known_;
  CostModel model_;
  std::vector<CostMeasurement> seen_;  // the oldest is written over
  std::size_t count_ = 0;
};

// How much processor time a device gets, in seconds per second, and will get in its next step: what it got in its last ones,
// and at once more or less where its allowance is known and has changed.
class ProcessorShare {
 public:
  // `first` is what it is taken to be before anything has been seen; above 0.
  explicit ProcessorShare(double first) : rate_(first) {}

  // So much was got in so long, while so much was allowed (nothing where nobody knows). What makes no sense is passed over.
  void Observe(double processor_seconds, double seconds, std::optional<double> allowed);

  // While so much is allowed.
  double Rate(std::optional<double> allowed) const;

 private:
  double rate_;
  std::optional<double> allowed_;  // while that was seen
};

}  // namespace tributary::inline policy
