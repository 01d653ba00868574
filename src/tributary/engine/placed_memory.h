#pragma once

#include <ATen/ATen.h>

#include <vector>

#include "tributary/engine/executor.h"

namespace tributary {

// A network's flat memory where its passes run: the caller's own on the processor; on another device copies of it, laid out
// alike, which are brought up to date unit by unit.
class PlacedMemory {
 public:
  PlacedMemory(const Model& model, const NetworkMemory& memory, TorchDevice device);

  bool elsewhere() const { return elsewhere_; }
  at::Device device() const { return device_; }
  // Flat tensors. Gradients are undefined where nothing is trained.
  const at::Tensor& parameters() const { return parameters_; }
  const at::Tensor& statistics() const { return statistics_; }
  const at::Tensor& gradients() const { return gradients_; }

  // From the caller's memory and to it; these do nothing where it is the same.
  void BringUnit(std::size_t unit);
  void BringAll();
  void FetchGradient(std::size_t unit);
  void FetchStatistics();
  void FetchParameters();

 private:
  const std::vector<Segment>& parameter_units_;
  const std::vector<Segment>& statistic_units_;
  const NetworkMemory memory_;
  const bool elsewhere_;
  const at::Device device_;
  at::Tensor parameters_, statistics_, gradients_;
};

}  // namespace tributary
