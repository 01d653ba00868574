#pragma once

#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/model/graph.h"

namespace tributary::inline model {

// Where a network can be cut, what the cuts are called, and the parts between them.

// For each node, whether the network may be cut right after it: exactly one tensor, this node's output, is needed
// beyond. Nothing is cut off after the input or after the last node, so both are false. Before and after a further
// input of part of a network it is cut already, and both are true.
std::vector<bool> SplitPoints(const Graph& graph);

// The cut with this layer's name. If there is no such layer, or the network cannot be cut after it, an error that says
// so and names the valid cuts: all of them, or the nearest and how to see the rest. `cuts` are those of SplitPoints.
StatusOr<NodeIndex> FindSplitPoint(const Graph& graph, const std::vector<bool>& cuts, std::string_view layer);

// Parts of a network, for running it in several places. Names, operations and order of the nodes are kept, so the flat
// layouts of a part are the stretches of the whole network's that belong to its nodes, shifted; where a cut parts a
// layer from its norm, a transfer unit of the whole lies in both parts. Initial weights are those of the whole network:
// InitialiseWeights knows a layer by its place, so cut them out of its buffer. The nodes given must be as described.

// Nodes first … last as a network of its own, whose input is what node first − 1 gives. `first` is 1 or follows a cut,
// `last` is a cut or the last node.
Graph PartOf(const Graph& graph, NodeIndex first, NodeIndex last);

// Both ends of a network whose middle lies elsewhere: nodes 1 … cut, then an input of the shape that node `tail` gives,
// which has that node's name, then nodes tail + 1 … end. `cut` comes before `tail`, and both are cuts. It is run in two
// passes: nodes 1 … cut, and from node cut + 2 on. The network may be cut after `cut` and after the second input, cut + 1.
Graph EndsOf(const Graph& graph, NodeIndex cut, NodeIndex tail);

}  // namespace tributary::inline model
