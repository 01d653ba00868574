#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>

#include <functional>
#include <memory>
#include <vector>

#include "tributary/engine/operations.h"
#include "tributary/engine/placed_memory.h"

namespace tributary::inline engine {

// A model's persistent tensors as views of its flat memory: parameters as leaves of the autograd graph with
// gradients preset to views of the flat gradients, and running statistics.
//
// This requires that torch never replaces these tensors or gradients (no torch optimiser, no zero_grad), and
// that parameter memory is written by plain copies: writes through torch would count as in-place changes and
// break a running backward pass.
class Leaves {
 public:
  Leaves(const Model& model, const PlacedMemory& memory);
  Leaves(const Leaves&) = delete;
  Leaves& operator=(const Leaves&) = delete;

  const NodeLeaves& node(NodeIndex index) const { return nodes_[index]; }

  // Zeroes the gradients of these units and resets the counts of complete gradients. Until the next call,
  // `ready` (may be empty) is called with each unit whose gradients are complete.
  void BeginBackward(const std::vector<bool>& units, std::function<void(std::size_t)> ready);

 private:
  class Arrival;

  std::vector<NodeLeaves> nodes_;
  // Keeps alive the functions that add to the leaves' gradients, with their hooks; torch holds them weakly.
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;
  std::vector<std::size_t> tensors_of_unit_;
  std::vector<std::size_t> missing_of_unit_;
  std::vector<at::Tensor> gradients_of_unit_;
  at::Tensor gradients_;  // all units
  std::function<void(std::size_t)> ready_;
};

}  // namespace tributary::inline engine
