#pragma once

#include <memory>
#include <vector>

#include "tributary/engine/subnetwork.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline device {

// Training steps on some channels of a network: each step gathers its values from the whole network, unit by
// unit, and scatters the changes. Momentum, weight decay and the proximal term act only on kept channels; all
// other values stay bit-identical.
//
//   1. Begin a step with its channels, and run its pass on the returned executor;
//   2. Place each unit before the pass reads it;
//   3. PutStatistics after the forward pass;
//   4. for each unit whose gradient is ready: PutGradient; or BeginUpdate once, then Update.
class SubnetworkSteps {
 public:
  SubnetworkSteps(std::shared_ptr<const Model> whole, FilterScaling scaling, ExecutorOptions options = {});
  FilterScaling scaling() const { return scaling_; }
  Executor& Begin(const KeptAtoms& kept);
  void Place(std::size_t unit, std::span<const float> parameters, std::span<const float> statistics);
  void PutStatistics(std::span<float> statistics);

  // Writes all gradients of the unit: zero for channels that are not kept.
  void PutGradient(std::size_t unit, std::span<float> gradients);

  // `whole` is the optimiser of the whole network, made with these options; its step count advances.
  Status BeginUpdate(const OptimiserOptions& options, Optimiser& whole, double learning_rate);
  // Updates the unit's kept parameters, with a proximal term of weight `prox` towards `origin`.
  void Update(std::size_t unit, Optimiser& whole, double prox, std::span<const float> origin,
              std::span<float> parameters);

 private:
  const std::shared_ptr<const Model> whole_;
  const FilterScaling scaling_;
  Subnetworks networks_;
  Subnetwork* network_ = nullptr;         // of this step
  std::unique_ptr<Optimiser> optimiser_;  // of this step
  std::vector<float> origin_;             // its kept part
};

}  // namespace tributary::inline device
