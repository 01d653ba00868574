#pragma once

#include <vector>

#include "tributary/base/units.h"
#include "tributary/model/graph.h"

namespace tributary {

// What one node costs for one sample. Multiply by the batch for a batch; parameters do not multiply.
struct NodeCost {
  Macs macs;  // multiply-accumulates of the forward pass: convolutions and linear layers, as published
  std::int64_t parameters = 0;  // learnt values; running statistics are not counted
  Bytes output;                 // the float32 output: what would cross a cut after this node
};

std::vector<NodeCost> NodeCosts(const Graph& graph);

// Sums over a graph.
Macs TotalMacs(const std::vector<NodeCost>& costs);
std::int64_t TotalParameters(const std::vector<NodeCost>& costs);

// About what training holds at once: parameters, gradients and momentum, and every node's output for the batch, which
// the backward pass needs again.
Bytes TrainingMemory(const std::vector<NodeCost>& costs, std::int64_t batch);

}  // namespace tributary
