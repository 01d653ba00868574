#pragma once

#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/model/graph.h"

namespace tributary::inline model {

// Where a network can be cut, the names of the cuts, and the parts between them.

// For each node, whether the network can be cut right after it, because only its output is needed beyond.
// False for the input and the last node. True right before and at a further input of part of a network.
std::vector<bool> SplitPoints(const Graph& graph);

// The cut with this layer's name. If the layer does not exist or is not a valid cut, the error lists the
// valid cuts: all of them, or the nearest and how to list the others. `cuts` is the result of SplitPoints.
StatusOr<NodeIndex> FindSplitPoint(const Graph& graph, const std::vector<bool>& cuts, std::string_view layer);

// Parts of a network for running it in several places. Node names, operations and order are kept, so a part's
// flat layouts are the whole network's stretches for its nodes, shifted; a transfer unit is divided where a
// cut separates a layer from its norm. Take initial weights from the whole network's buffer, because
// InitialiseWeights depends on a layer's position. The given nodes must be as described.

// Nodes first … last as a network whose input is the output of node first − 1. `first` is 1 or follows a cut;
// `last` is a cut or the last node.
Graph PartOf(const Graph& graph, NodeIndex first, NodeIndex last);

// Both ends of a network without its middle: nodes 1 … cut, an input with the name and output shape of node
// `tail`, and nodes tail + 1 … end. `cut` precedes `tail`, and both are cuts. It runs in two passes: nodes 1
// … cut, and from node cut + 2 on. It can be cut after `cut` and after the second input, cut + 1.
Graph EndsOf(const Graph& graph, NodeIndex cut, NodeIndex tail);

}  // namespace tributary::inline model
