#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tributary/model/model.h"

namespace tributary::inline model {

// Layers that keep their weights while the rest is trained: fine-tuning. They are run as in evaluation (a frozen batch norm
// uses and keeps its running statistics), are never transferred, and nothing goes back through them further than to the
// first layer that is trained.

// The nodes of the transfer units that are named, or that lie in a module that is: "layer1" are all of layer1.0, layer1.1
// and so on. A norm goes with the layer of its unit. Refused: a name that there is not, and all of them.
StatusOr<std::vector<bool>> FrozenNodes(const Graph& graph, std::span<const std::string> names);

// The network with these nodes frozen at the values that `parameters` and `statistics` have, which are the whole one's.
Model Freeze(const Model& whole, std::vector<bool> nodes, std::span<const float> parameters,
             std::span<const float> statistics);

// What a frozen network trains, out of flat memory of the whole one, tensor by tensor.
void CopyTrained(const Layout& whole, std::span<const float> from, const Layout& trained,
                 std::span<float> to);

}  // namespace tributary::inline model
