#include "tributary/model/adapt_graph.h"

#include <numeric>

#include "tributary/model/layout.h"

namespace tributary::inline model {
namespace {

StatusOr<Graph> Rebuilt(const Graph& graph, const Shape& input, const Operation& last) {
  GraphBuilder builder(graph.name(), input);
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    builder.Add(node.name, i + 1 == graph.size() ? last : node.operation, node.inputs);
  }
  return std::move(builder).Build();
}

constexpr std::int64_t kGroups = 32;

}  // namespace

StatusOr<Graph> WithInput(const Graph& graph, const Shape& input) {
  if (input == graph.input_shape()) return graph;
  const std::string why = graph.name() + " was made for samples of " + FormatShape(graph.input_shape()) +
                          " and does not take those of " + FormatShape(input);
  TRIBUTARY_ASSIGN_OR_RETURN(Graph built,
                             Rebuilt(graph, input, graph.nodes().back().operation).WithContext(why));
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const auto before = ParametersOf(graph, i), after = ParametersOf(built, i);
    for (std::size_t k = 0; k < before.size(); ++k) {
      if (before[k].shape == after[k].shape) continue;
      return InvalidArgument(why + ": its layer '" + graph.node(i).name +
                             "' would need other weights; export the network for this shape");
    }
  }
  return built;
}

StatusOr<Graph> WithClasses(const Graph& graph, std::int64_t classes) {
  const auto* head = std::get_if<Linear>(&graph.nodes().back().operation);
  if (head == nullptr) {
    return InvalidArgument("the last layer of " + graph.name() + ", '" + graph.nodes().back().name +
                           "', is not a linear one, and cannot be replaced for other classes");
  }
  return Rebuilt(graph, graph.input_shape(), Linear{classes, head->bias});
}

StatusOr<Graph> FitToData(const Graph& graph, const Shape& input, std::int64_t classes, bool new_head) {
  TRIBUTARY_ASSIGN_OR_RETURN(Graph fitted, WithInput(graph, input));
  if (new_head) return WithClasses(fitted, classes);
  if (classes <= fitted.classes()) return fitted;
  return InvalidArgument(graph.name() + " knows " + std::to_string(graph.classes()) +
                         " classes, and the data have " + std::to_string(classes) +
                         "; a new head (new-head = true, --new-head) re-initialises its last layer");
}

Graph WithGroupNorms(const Graph& graph, NodeIndex first, NodeIndex last) {
  GraphBuilder replaced(graph.name(), graph.input_shape());
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    Node node = graph.node(i);
    if (const auto* norm = std::get_if<BatchNorm>(&node.operation); norm && i >= first && i <= last)
      node.operation = GroupNorm{std::gcd(kGroups, graph.shape(i).channels), norm->epsilon};
    replaced.Add(std::move(node.name), std::move(node.operation), std::move(node.inputs));
  }
  return std::move(replaced).BuildPart().value();
}

NodeIndex FirstBatchStatistics(const Graph& graph, NodeIndex first) {
  while (first < graph.size() && TraitsOf(graph.node(first).operation).role != LayerRole::kBatchNorm) ++first;
  return std::min(first, graph.size());
}

}  // namespace tributary::inline model
