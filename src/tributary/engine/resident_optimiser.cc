#include "tributary/engine/resident_optimiser.h"

#include <torch/version.h>

#include <cmath>

#define TRIBUTARY_FUSED_SGD \
  (TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3))

namespace tributary::inline engine {

ResidentOptimiser::ResidentOptimiser(const OptimiserOptions& options, const PlacedMemory& memory,
                                     Optimiser* state)
    : options_(options), memory_(memory), state_(state) {
  const std::size_t arrays = options.name == "adam" ? 2 : options.momentum > 0 ? 1 : 0;
  for (std::size_t i = 0; i < arrays; ++i) arrays_.push_back(at::zeros_like(memory.parameters()));
  if (state_ == nullptr) return;
  steps_ = state_->steps();
  const auto kept = state_->State();
  for (std::size_t i = 0; i < arrays; ++i) memory_.Bring(kept[i].values, arrays_[i]);
}

void ResidentOptimiser::Step(at::Tensor parameters, at::Tensor gradients, double learning_rate) {
  ++steps_;
#if TRIBUTARY_FUSED_SGD
  if (parameters.is_cuda() && options_.name == "sgd" &&
      options_.momentum > 0) {  // one pass over memory instead of five
    at::_fused_sgd_({parameters}, {gradients}, {arrays_[0]}, options_.weight_decay, options_.momentum,
                    learning_rate,
                    /*dampening=*/0, options_.nesterov, /*maximize=*/false, /*is_first_step=*/false);
    return;
  }
#endif
  if (options_.weight_decay > 0) gradients.add_(parameters, options_.weight_decay);
  if (options_.name == "adam") {
    StepAdam(parameters, gradients, learning_rate);
  } else {
    StepSgd(parameters, gradients, learning_rate);
  }
}

void ResidentOptimiser::StepSgd(at::Tensor& parameters, at::Tensor& gradients, double learning_rate) {
  if (options_.momentum > 0) {
    at::Tensor& momentum = arrays_[0];
    momentum.mul_(options_.momentum).add_(gradients);
    if (options_.nesterov) {
      gradients.add_(momentum, options_.momentum);
    } else {
      parameters.add_(momentum, -learning_rate);
      return;
    }
  }
  parameters.add_(gradients, -learning_rate);
}

void ResidentOptimiser::StepAdam(at::Tensor& parameters, at::Tensor& gradients, double learning_rate) {
  at::Tensor& mean = arrays_[0];
  at::Tensor& square = arrays_[1];
  mean.mul_(options_.beta1).add_(gradients, 1 - options_.beta1);
  square.mul_(options_.beta2).addcmul_(gradients, gradients, 1 - options_.beta2);
  const double correction = std::sqrt(1 - std::pow(options_.beta2, static_cast<double>(steps_)));
  const at::Tensor scale = square.sqrt().div_(correction).add_(options_.epsilon);
  parameters.addcdiv_(mean, scale,
                      -learning_rate / (1 - std::pow(options_.beta1, static_cast<double>(steps_))));
}

void ResidentOptimiser::Store() {
  if (state_ == nullptr) return;
  const auto kept = state_->State();
  for (std::size_t i = 0; i < arrays_.size(); ++i) memory_.Fetch(arrays_[i], kept[i].values);
  state_->set_steps(steps_);
}

}  // namespace tributary::inline engine
