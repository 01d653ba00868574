#pragma once

#include "tributary/model/graph.h"

namespace tributary {

// The network with this share of the channels of every layer, above 0 and up to 1: the first ones of each channel group, as
// many as KeptCounts says.
Graph NarrowGraph(Graph whole, double width);

}  // namespace tributary
