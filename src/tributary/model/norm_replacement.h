#pragma once

#include "tributary/model/graph.h"

namespace tributary {

// The network with GroupNorm of gcd(32, channels) groups in place of each BatchNorm among nodes first … last; everything
// else as it was, names and epsilon included. So the layout of the parameters stays, and running statistics go.
Graph WithGroupNorms(const Graph& graph, NodeIndex first, NodeIndex last);

// The first node from `first` on whose output depends on the other samples of its batch (a batch norm); graph.size() if
// there is none.
NodeIndex FirstBatchStatistics(const Graph& graph, NodeIndex first);

}  // namespace tributary
