#pragma once

#include "tributary/base/flat_buffer.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline policy {

// Adam as PyTorch's torch.optim.Adam: weight decay is added to the gradient, both means are corrected for
// having started at zero, and epsilon stands outside the root:
//
//   gradient += weight_decay · parameter
//   mean      = beta1 · mean + (1 − beta1) · gradient
//   square    = beta2 · square + (1 − beta2) · gradient²
//   parameter −= learning_rate / (1 − beta1^t) · mean / (√square / √(1 − beta2^t) + epsilon)
//
// t is the number of steps begun, for all elements alike: one that was left out of a step is corrected as if
// it had been there. State: `mean` and `square`. Options must have passed MakeOptimiser.
class Adam : public Optimiser {
 public:
  Adam(const OptimiserOptions& options, std::size_t size);

  std::vector<StateArray> State() override;

 private:
  void Prepare(double learning_rate) override;
  void Apply(std::size_t offset, std::span<float> parameters, std::span<const float> gradients) override;

  const double beta1_;
  const double beta2_;
  const float epsilon_;
  const float decay_;
  float rate_ = 0;
  float root_correction_ = 0;
  FlatBuffer mean_;
  FlatBuffer square_;
};

}  // namespace tributary::inline policy
