#include "tributary/model/filter_scaling.h"

#include <algorithm>

namespace tributary {

FilterScaling SuitableScaling(const Graph& graph) {
  const bool norms = std::ranges::any_of(graph.nodes(), [](const Node& node) {
    return std::holds_alternative<BatchNorm>(node.operation) ||
           std::holds_alternative<GroupNorm>(node.operation);
  });
  return norms ? FilterScaling::kNone : FilterScaling::kInverse;
}

}  // namespace tributary
