#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "tributary/engine/executor.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline engine {

// A network's flat memory where its passes run: the caller's own on the processor; on another device copies of it, which are
// brought up to date unit by unit. Those have the same slots, but inside a slot the weights of a convolution may be in the
// order in which the device likes them.
class PlacedMemory {
 public:
  PlacedMemory(const Model& model, const NetworkMemory& memory, TorchDevice device, bool channels_last);

  bool elsewhere() const { return elsewhere_; }
  at::Device device() const { return device_; }
  // Flat tensors. Gradients are undefined where nothing is trained.
  const at::Tensor& parameters() const { return parameters_; }
  const at::Tensor& statistics() const { return statistics_; }
  const at::Tensor& gradients() const { return gradients_; }

  // A slot of one of them, as a tensor of its own (not a view in torch's sense: that would share the flat tensor's count of
  // changes).
  at::Tensor Slot(const at::Tensor& flat, const Layout::Slot& slot) const;

  // One that is never trained, there.
  at::Tensor Constant(const Model& model, const Layout::Slot& slot) const;

  // What lies like the parameters, from the processor and to it.
  void Bring(std::span<const float> from, const at::Tensor& flat) const;
  void Fetch(const at::Tensor& flat, std::span<float> to) const;

  // From the caller's memory and to it; these do nothing where it is the same.
  void BringUnit(std::size_t unit);
  void BringAll();
  void FetchGradient(std::size_t unit);
  void FetchStatistics();
  void FetchParameters();

 private:
  void CopyUnit(std::size_t unit, const at::Tensor& flat, std::span<float> here, bool bring) const;

  const Layout& layout_;
  const Layout& statistics_layout_;
  std::vector<std::vector<const Layout::Slot*>> slots_of_unit_;  // of the parameters
  const NetworkMemory memory_;
  const bool elsewhere_, channels_last_;
  const at::Device device_;
  at::Tensor parameters_, statistics_, gradients_;
};

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
