#pragma once

#include "tributary/model/graph.h"

namespace tributary {

// What the remaining channels of a sub-network do for those that are left out.
enum class FilterScaling {
  kNone,     // nothing: sums over fewer channels are smaller
  kInverse,  // each counts as much more as there are fewer, as in dropout (ThinMap::Compensate)
};

// What suits a network: nothing where norms make up for smaller sums, inverse where nothing else would.
FilterScaling SuitableScaling(const Graph& graph);

}  // namespace tributary
