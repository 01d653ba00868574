#include "tributary/model/norm_replacement.h"

#include <numeric>

#include "tributary/base/check.h"

namespace tributary {
namespace {

constexpr std::int64_t kGroups = 32;

}  // namespace

Graph WithGroupNorms(const Graph& graph, NodeIndex first, NodeIndex last) {
  GraphBuilder replaced(graph.name(), graph.input_shape());
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    const auto* batch_norm = std::get_if<BatchNorm>(&node.operation);
    if (batch_norm && i >= first && i <= last) {
      const std::int64_t groups = std::gcd(kGroups, graph.shape(i).channels);
      replaced.Add(node.name, GroupNorm{groups, batch_norm->epsilon}, node.inputs);
    } else {
      replaced.Add(node.name, node.operation, node.inputs);
    }
  }
  auto built = std::move(replaced).BuildPart();
  TRIBUTARY_CHECK(built.ok());
  return std::move(built).value();
}

NodeIndex FirstBatchStatistics(const Graph& graph, NodeIndex first) {
  NodeIndex node = first;
  while (node < graph.size() && !std::holds_alternative<BatchNorm>(graph.node(node).operation)) ++node;
  return node < graph.size() ? node : graph.size();
}

}  // namespace tributary
