#pragma once

#include <cstdint>
#include <vector>

#include "tributary/model/model.h"

namespace tributary {

// What each transfer unit of a network costs, in the order of units: what plans of transfers and simulated time are made
// from. Nodes without parameters count for the unit before them in the order of execution, those before the first for
// the first; so the sums are those of the whole network.
struct UnitCosts {
  std::vector<double> macs;  // of the forward pass of one sample
  // Going back through a layer takes its forward pass twice: for the gradient of its weights and for that of its input. A
  // frozen layer has only the second, and one before all that are trained neither.
  std::vector<double> backward;
  std::vector<std::int64_t> bytes;  // of its parameters and running statistics, as they lie in memory
};
UnitCosts CostsOfUnits(const Model& model);

}  // namespace tributary
