#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/units.h"
#include "tributary/model/channel_groups.h"
#include "tributary/model/graph.h"
#include "tributary/model/layout.h"
#include "tributary/model/split_points.h"

namespace tributary::inline model {

struct Model;

// The cost of one node for one sample. All but `parameters` scale with the batch.
struct NodeCost {
  Macs macs;                    // of the forward pass: convolutions and linear layers only, as published
  std::int64_t parameters = 0;  // without running statistics
  Bytes output;                 // float32; what would be transferred at a cut after this node
};

std::vector<NodeCost> NodeCosts(const Graph& graph);

// Sums over a graph.
Macs TotalMacs(const std::vector<NodeCost>& costs);
std::int64_t TotalParameters(const std::vector<NodeCost>& costs);

// Approximate memory of training: parameters, gradients, momentum, and every node's output for the batch,
// kept for the backward pass.
Bytes TrainingMemory(const std::vector<NodeCost>& costs, std::int64_t batch);

// The costs of each transfer unit, in the order of units, for transfer plans and simulated time. A node
// without parameters counts for the preceding unit in execution order (the first nodes for the first unit),
// so the sums are those of the whole network.
struct UnitCosts {
  std::vector<double> macs;  // of the forward pass of one sample
  // The backward pass of a layer costs two forward passes: one for the gradient of the weights, one for that
  // of the input. A frozen layer needs only the second, and a layer before all trained layers neither.
  std::vector<double> backward;
  std::vector<std::int64_t> bytes;  // of its parameters and running statistics in memory
};
UnitCosts CostsOfUnits(const Model& model);

// A graph with everything derived from it, computed once for all code that costs, splits, thins, transfers or
// runs the network. Immutable; pass it by reference or as shared_ptr<const Model>.
//
// The tensors of frozen layers (Freeze) are in `constants` and not in `parameters` or `statistics`, so code
// that transfers, optimises, compresses or stores parameters never sees them.
struct Model {
  explicit Model(Graph graph);
  // `frozen` has a flag per node; `values` holds the frozen tensors in the layout `constants`.
  Model(Graph graph, std::vector<bool> frozen, std::shared_ptr<const FlatBuffer> values);

  Graph graph;
  std::vector<NodeCost> costs;      // per node
  std::vector<bool> cuts;           // per node: can be cut right after it
  std::vector<bool> frozen;         // per node
  std::vector<TransferUnit> units;  // of the trained layers
  ChannelGroups channels;
  Layout parameters;
  Layout statistics;
  Layout constants;
  std::shared_ptr<const FlatBuffer> constant_values;  // null where nothing is frozen
};

// Fine-tuning: frozen layers keep their weights while the others are trained. They run as in evaluation (a
// frozen batch norm uses and keeps its running statistics) and are never transferred; the backward pass ends
// at the first trained layer.

// The nodes of all transfer units whose name or module is in `names`: "layer1" covers layer1.0, layer1.1 and
// so on. A norm goes with the layer of its unit. Unknown names, and freezing all units, are errors.
StatusOr<std::vector<bool>> FrozenNodes(const Graph& graph, std::span<const std::string> names);

// Freezes these nodes at their values in `parameters` and `statistics` of the whole network.
Model Freeze(const Model& whole, std::vector<bool> nodes, std::span<const float> parameters,
             std::span<const float> statistics);

// Copies the tensors of `trained` that `whole` has too, by name.
void CopyTrained(const Layout& whole, std::span<const float> from, const Layout& trained,
                 std::span<float> to);

}  // namespace tributary::inline model
