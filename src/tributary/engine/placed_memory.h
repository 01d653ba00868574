#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "tributary/engine/executor.h"
#include "tributary/policy/optimisation/optimiser.h"

namespace tributary::inline engine {

// A network's flat memory on the device of its passes: the caller's memory on a CPU, copies that are updated
// unit by unit on a GPU. Copies have the same slots, but weights of convolutions may be in the GPU's
// preferred order inside a slot.
class PlacedMemory {
 public:
  PlacedMemory(const Model& model, const NetworkMemory& memory, TorchDevice device, bool channels_last);

  bool elsewhere() const { return elsewhere_; }
  at::Device device() const { return device_; }
  // Flat tensors. Gradients are undefined if nothing is trained.
  const at::Tensor& parameters() const { return parameters_; }
  const at::Tensor& statistics() const { return statistics_; }
  const at::Tensor& gradients() const { return gradients_; }

  // A slot as a separate tensor (not a torch view, which would share the flat tensor's version counter).
  at::Tensor Slot(const at::Tensor& flat, const Layout::Slot& slot) const;

  // A frozen tensor on this device.
  at::Tensor Constant(const Model& model, const Layout::Slot& slot) const;

  // Copy an array in the parameter layout to the device and back.
  void Bring(std::span<const float> from, const at::Tensor& flat) const;
  void Fetch(const at::Tensor& flat, std::span<float> to) const;

  // Copy from and to the caller's memory; no-ops on a CPU.
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

// The optimisers of policy/optimisation on flat tensors of any device: the same steps up to rounding.
class ResidentOptimiser {
 public:
  // Continues from `state`, which must have the same options and is updated by Store; starts fresh if it is
  // null. `memory` holds the parameters.
  ResidentOptimiser(const OptimiserOptions& options, const PlacedMemory& memory, Optimiser* state);

  // Overwrites the gradients.
  void Step(at::Tensor parameters, at::Tensor gradients, double learning_rate);
  void Store();

 private:
  void StepSgd(at::Tensor& parameters, at::Tensor& gradients, double learning_rate);
  void StepAdam(at::Tensor& parameters, at::Tensor& gradients, double learning_rate);

  const OptimiserOptions options_;
  const PlacedMemory& memory_;
  Optimiser* const state_;
  std::uint64_t steps_ = 0;
  std::vector<at::Tensor> arrays_;  // as in Optimiser::State
};

}  // namespace tributary::inline engine
