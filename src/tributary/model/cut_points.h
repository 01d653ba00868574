#pragma once

#include <vector>

#include "tributary/model/graph.h"

namespace tributary {

// For each node, whether the network may be cut right after it: exactly one tensor, this node's output, is needed
// beyond. Nothing is cut off after the input or after the last node, so both are
// false. Before and after a further input of part of a network it is cut already, and both are true.
std::vector<bool> CutPoints(const Graph& graph);

}  // namespace tributary
