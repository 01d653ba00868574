#pragma once

#include <ATen/ATen.h>

#include <memory>
#include <vector>

#include "tributary/engine/placed_memory.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline engine {

// The optimisers of policy/optimisation on flat tensors, wherever those are: the same steps, to rounding.
class ResidentOptimiser {
 public:
  // Goes on from `state`, which must be made with the same options, or starts fresh without one. It is put back by Store.
  // `memory` is where the parameters are.
  ResidentOptimiser(const OptimiserOptions& options, const PlacedMemory& memory, Optimiser* state);

  // Gradients are used up.
  void Step(at::Tensor parameters, at::Tensor gradients, double learning_rate);
  void Store();

 private:
  void StepSgd(at::Tensor& parameters, at::Tensor& gradients, double learning_rate);
  void StepAdam(at::Tensor& parameters, at::Tensor& gradients, double learning_rate);

  const OptimiserOptions options_;
  const PlacedMemory& memory_;
  Optimiser* const state_;
  std::uint64_t steps_ = 0;
  std::vector<at::Tensor> arrays_;  // as those of Optimiser::State
};

}  // namespace tributary::inline engine
