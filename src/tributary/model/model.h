#pragma once

#include <memory>
#include <vector>

#include "tributary/base/flat_buffer.h"
#include "tributary/model/channel_groups.h"
#include "tributary/model/cost.h"
#include "tributary/model/graph.h"
#include "tributary/model/layout.h"
#include "tributary/model/split_points.h"

namespace tributary::inline model {

// A graph with everything that follows from it, computed once and shared by all code that costs, cuts, thins, transfers or
// runs the network. Immutable; hand it around by reference or in a shared_ptr<const Model>.
//
// Layers may be frozen (freeze.h): their weights and running statistics are then constants of the model, and neither
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

}  // namespace tributary::inline model
