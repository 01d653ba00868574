#pragma once

#include <memory>
#include <vector>

#include "tributary/engine/subnetwork.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline device {

// Steps of training on some channels of a network: each takes what it needs out of the whole network's numbers, transfer
// unit by unit, and puts back what has changed. Momentum, decay and the pull towards the weights given act on what is
// kept; everything else stays as it is, to the bit.
//
//   1. Begin a step with the channels that it keeps, and run its pass on the executor that comes back;
//   2. Place each unit before the pass reads it;
//   3. PutStatistics when the pass has gone forward;
//   4. of each unit that has its gradient, either PutGradient, or after one BeginUpdate, Update.
class SubnetworkSteps {
 public:
  SubnetworkSteps(std::shared_ptr<const Model> whole, FilterScaling scaling, ExecutorOptions options = {});

  FilterScaling scaling() const { return scaling_; }

  Executor& Begin(const KeptAtoms& kept);
  void Place(std::size_t unit, std::span<const float> parameters, std::span<const float> statistics);
  void PutStatistics(std::span<float> statistics);

  // All of the unit's gradients are written: zero where a channel is not kept.
  void PutGradient(std::size_t unit, std::span<float> gradients);

  // `whole` is the optimiser of the whole network, made with these options, whose step this is.
  Status BeginUpdate(const OptimiserOptions& options, Optimiser& whole, double learning_rate);
  // Moves the unit's kept parameters; with a pull of `prox` towards `origin`, as the whole network's.
  void Update(std::size_t unit, Optimiser& whole, double prox, std::span<const float> origin,
              std::span<float> parameters);

 private:
  const std::shared_ptr<const Model> whole_;
  const FilterScaling scaling_;
  Subnetworks networks_;
  Subnetwork* network_ = nullptr;         // of this step
  std::unique_ptr<Optimiser> optimiser_;  // likewise
  std::vector<float> origin_;             // the kept part of it
};

}  // namespace tributary::inline device
