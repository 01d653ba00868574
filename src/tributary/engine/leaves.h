#pragma once

#include <ATen/ATen.h>
#include <torch/csrc/autograd/function.h>

#include <functional>
#include <memory>
#include <vector>

#include "tributary/engine/operations.h"
#include "tributary/engine/placed_memory.h"

namespace tributary::inline engine {

// A model's persistent tensors as views of flat memory, where passes run: parameters as leaves of the autograd graph,
// their gradients preset as views of the flat gradients, running statistics beside them.
//
// What keeps this sound: torch never replaces these tensors or their gradients (no torch optimiser, no zero_grad), and
// parameter memory is written by plain copies, never through torch, whose writes would count as in-place changes and
// break a backward pass under way.
class Leaves {
 public:
  Leaves(const Model& model, const PlacedMemory& memory);
  Leaves(const Leaves&) = delete;
  Leaves& operator=(const Leaves&) = delete;

  const NodeLeaves& node(NodeIndex index) const { return nodes_[index]; }

  // Zeroes the gradients of these units and forgets what arrived; `ready` (may be empty) is called with a unit each
  // time all its parameters have their gradients, until the next call.
  void BeginBackward(const std::vector<bool>& units, std::function<void(std::size_t)> ready);

 private:
  class Arrival;

  std::vector<NodeLeaves> nodes_;
  // Keeps alive what torch holds only weakly: the functions that add into a leaf's gradient, with our hooks on them.
  std::vector<std::shared_ptr<torch::autograd::Node>> accumulators_;
  std::vector<std::size_t> tensors_of_unit_;
  std::vector<std::size_t> missing_of_unit_;
  std::vector<at::Tensor> gradients_of_unit_;
  at::Tensor gradients_;  // of all
  std::function<void(std::size_t)> ready_;
};

}  // namespace tributary::inline engine
