#pragma once

#include "tributary/base/flat_buffer.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline policy {

// Stochastic gradient descent with momentum, as PyTorch's torch.optim.SGD with dampening 0:
//
//   direction = gradient + weight_decay · parameter
//   momentum  = momentum_factor · momentum + direction
//   parameter −= learning_rate · (momentum, or with nesterov direction + momentum_factor · momentum)
//
// The learning rate is outside the momentum: changing it acts at once. State: `momentum`, or nothing without
// it. Options must have passed MakeOptimiser.
class Sgd : public Optimiser {
 public:
  Sgd(const OptimiserOptions& options, std::size_t size);

  std::vector<StateArray> State() override;

 private:
  void Prepare(double learning_rate) override;
  void Apply(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) override;

  const float factor_;
  const float decay_;
  const bool nesterov_;
  float rate_ = 0;
  FlatBuffer momentum_;
};

}  // namespace tributary::inline policy
