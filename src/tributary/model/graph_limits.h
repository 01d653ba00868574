#pragma once

#include "tributary/model/graph.h"

namespace tributary {

// Whether a network that somebody else describes is of a size that can be analysed and held: at most 100,000 nodes, 2²²
// channels and columns in all of them together, 2³⁰ parameters. The networks of the zoo are far below.
Status CheckGraphLimits(const Graph& graph);

}  // namespace tributary
