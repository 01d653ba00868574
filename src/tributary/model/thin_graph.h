#pragma once

#include "tributary/model/model.h"

namespace tributary {

// The network without the channels that are not kept: node by node the same, with the same names, but with smaller dense
// layers. Its transfer units and the order of its tensors are those of the whole.
Graph ThinGraph(const Model& whole, const KeptAtoms& kept);
// The same with what follows from it, and with what is frozen, which is never thinned.
Model ThinModel(const Model& whole, const KeptAtoms& kept);

}  // namespace tributary
