#pragma once

#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/model/graph.h"

namespace tributary {

// The cut with this layer's name. If there is no such layer, or the network cannot be cut after it, an error that says
// so and names the valid cuts: all of them, or the nearest and how to see the rest. `cuts` are those of CutPoints.
StatusOr<NodeIndex> FindCut(const Graph& graph, const std::vector<bool>& cuts, std::string_view layer);

}  // namespace tributary
