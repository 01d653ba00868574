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

// A graph with everything that follows from it, computed once and shared by all code that costs, cuts, thins, transfers or
// runs the network. Immutable; hand it around by reference or in a shared_ptr<const Model>.
//
// Layers may be frozen (Freeze): their weights and running statistics are then constants of the model, and neither
// parameters nor statistics. So code that transfers, optimises, compresses or stores parameters never sees them.
struct Model {
  explicit Model(Graph graph);
  // `frozen` says for each node whether it is; `values` are what lies where `constants` says, in a network of this graph.
  Model(Graph graph, std::vector<bool> frozen, std::shared_ptr<const FlatBuffer> values);

  Graph graph;
  std::vector<NodeCost> costs;      // per node
  std::vector<bool> cuts;           // per node: may be cut right after it
  std::vector<bool> frozen;         // per node
  std::vector<TransferUnit> units;  // those that are trained
  ChannelGroups channels;
  Layout parameters;
  Layout statistics;
  Layout constants;
  std::shared_ptr<const FlatBuffer> constant_values;  // null where nothing is frozen
};

// Layers that keep their weights while the rest is trained: fine-tuning. They are run as in evaluation (a frozen batch norm
// uses and keeps its running statistics), are never transferred, and nothing goes back through them further than to the
// first layer that is trained.

// The nodes of the transfer units that are named, or that lie in a module that is: "layer1" are all of layer1.0, layer1.1
// and so on. A norm goes with the layer of its unit. Refused: a name that there is not, and all of them.
StatusOr<std::vector<bool>> FrozenNodes(const Graph& graph, std::span<const std::string> names);

// The network with these nodes frozen at the values that `parameters` and `statistics` have, which are the whole one's.
Model Freeze(const Model& whole, std::vector<bool> nodes, std::span<const float> parameters,
             std::span<const float> statistics);

// What a frozen network trains, out of flat memory of the whole one, tensor by tensor.
void CopyTrained(const Layout& whole, std::span<const float> from, const Layout& trained,
                 std::span<float> to);

}  // namespace tributary::inline model
