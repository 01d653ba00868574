#pragma once

#include <string>
#include <vector>

#include "tributary/model/graph.h"

namespace tributary {

// What is sent and received together: a convolution or linear layer with the norms that belong to it. A norm belongs
// to the layer whose output it reads; where it reads something else (a concatenation, as in a DenseNet), to the layer
// that reads it next. Units are runs of the nodes with parameters in the order of execution, and a norm that is not next to
// its layer in that order is a unit of its own: so the units of what lies before a cut come before all others.
struct TransferUnit {
  std::string name;              // of the convolution or linear layer in it
  std::vector<NodeIndex> nodes;  // the nodes with parameters, in execution order
};

std::vector<TransferUnit> TransferUnits(const Graph& graph);

}  // namespace tributary
