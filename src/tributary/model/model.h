#pragma once

#include <vector>

#include "tributary/model/channel_groups.h"
#include "tributary/model/cost.h"
#include "tributary/model/cut_points.h"
#include "tributary/model/graph.h"
#include "tributary/model/layout.h"
#include "tributary/model/transfer_units.h"

namespace tributary {

// A graph with everything that follows from it, computed once and shared by whoever costs, cuts, thins, transfers or
// runs the network. Immutable; hand it around by reference or in a shared_ptr<const Model>.
struct Model {
  explicit Model(Graph graph);

  Graph graph;
  std::vector<NodeCost> costs;        // per node
  std::vector<bool> cuts;             // per node: may be cut right after it
  std::vector<TransferUnit> units;
  ChannelGroups channels;
  Layout parameters;
  Layout statistics;
};

}  // namespace tributary
