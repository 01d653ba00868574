#pragma once

#include <cstdint>
#include <vector>

#include "tributary/base/units.h"
#include "tributary/model/graph.h"

namespace tributary::inline model {

struct Model;

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

// What each transfer unit of a network costs, in the order of units: what plans of transfers and simulated time are made
// from. Nodes without parameters count for the unit before them in the order of execution, those before the first for
// the first; so the sums are those of the whole network.
struct UnitCosts {
  std::vector<double> macs;  // of the forward pass of one sample
  // Going back through a layer takes its forward pass twice: for the gradient of its weights and for that of its input. A
  // frozen layer has only the second, and one before all that are trained neither.
  std::vector<double> backward;
  std::vector<std::int64_t> bytes;  // of its parameters and running statistics, as they lie in memory
};
UnitCosts CostsOfUnits(const Model& model);

}  // namespace tributary::inline model
