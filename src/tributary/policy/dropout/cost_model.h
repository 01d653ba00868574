#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/model/model.h"

namespace tributary::inline policy {

// Features of a training step's cost. MACs alone are a poor predictor: narrow layers are memory-bound.
struct CostFeatures {
  double macs = 0;         // per step
  double activations = 0;  // bytes that the layers read and write
};

struct CostMeasurement {
  CostFeatures features;
  double seconds = 0;
};

// seconds = fixed + per_mac · macs + per_byte · activations. No term is negative, so a sub-network is never
// predicted to be slower than a network that contains it.
struct CostModel {
  double fixed = 0;
  double per_mac = 0;
  double per_byte = 0;

  double Seconds(const CostFeatures& features) const {
    return fixed + per_mac * features.macs + per_byte * features.activations;
  }
};

// Least squares of the relative errors. If terms are collinear in the measurements, only one is used. Fails
// for fewer than three measurements, for measurements with identical features, for features that are negative
// or not finite, and for times not above 0.
StatusOr<CostModel> FitCostModel(std::span<const CostMeasurement> measurements);

// The cost of a sub-network per sample, from the number of atoms kept per group, without building it.
class SubnetworkCosts {
 public:
  explicit SubnetworkCosts(const Model& model);

  // Forward MACs, as NodeCosts counts them for the sub-network.
  std::int64_t MacsOf(std::span<const std::int64_t> kept) const;
  // A whole training step on one sample: three forward passes of MACs, and the bytes of all outputs.
  CostFeatures FeaturesOf(std::span<const std::int64_t> kept) const;

 private:
  // Channels that are never dropped, and the number of channels per atom of each group.
  struct Channels {
    std::int64_t fixed = 0;
    std::vector<std::pair<std::size_t, std::int64_t>> of_groups;  // group, channels per atom
    std::int64_t Left(std::span<const std::int64_t> kept) const {
      std::int64_t left = fixed;
      for (const auto& [group, each] : of_groups) left += kept[group] * each;
      return left;
    }
  };
  // macs = each · channels out · channels in; in a grouped convolution, a channel reads only its block.
  struct Layer {
    std::int64_t each = 0;
    Channels out, in;
    bool blocks = false;
  };
  struct Output {
    std::int64_t bytes = 0;  // per channel
    Channels channels;
  };

  std::vector<Layer> layers_;
  std::vector<Output> outputs_;
};

// Learns step costs on this device: at first `known` scaled to the measurements, later a model fitted to
// them, once enough different steps have been measured.
class LiveCost {
 public:
  explicit LiveCost(const CostModel& known) : known_(known), model_(known) {}

  // Adds a measured step; ignores invalid values.
  void Observe(const CostMeasurement& seen);
  const CostModel& model() const { return model_; }

 private:
  static constexpr std::size_t kMost = 128;   // measurements remembered
  static constexpr std::size_t kEvery = 16;   // measurements between two fits
  static constexpr std::size_t kEnough = 24;  // measurements needed for a fitted model

  void Fit();

  const CostModel known_;
  CostModel model_;
  std::vector<CostMeasurement> seen_;  // ring buffer
  std::size_t count_ = 0;
};

// Predicts how much processor time the device gets in its next step, in seconds per second: the average of
// the last steps, scaled at once when the known allowance changes.
class ProcessorShare {
 public:
  // `first`: the rate before the first observation; above 0.
  explicit ProcessorShare(double first) : rate_(first) {}

  // `processor_seconds` were used in `seconds`, with this allowance (empty: unknown). Ignores invalid values.
  void Observe(double processor_seconds, double seconds, std::optional<double> allowed);

  // The predicted rate with this allowance.
  double Rate(std::optional<double> allowed) const;

 private:
  double rate_;
  std::optional<double> allowed_;  // at the last observation
};

}  // namespace tributary::inline policy
