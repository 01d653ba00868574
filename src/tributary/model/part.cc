#include "tributary/model/part.h"

#include "tributary/base/check.h"

namespace tributary {
namespace {

// Appends nodes first … last, which read one another and `input`, the part's node for what node first − 1 gives.
void Append(const Graph& graph, NodeIndex first, NodeIndex last, NodeIndex input, GraphBuilder& part) {
  for (NodeIndex i = first; i <= last; ++i) {
    const Node& node = graph.node(i);
    std::vector<NodeIndex> inputs;
    for (const NodeIndex source : node.inputs) {
      TRIBUTARY_CHECK(source + 1 >= first);  // What comes before is a cut: nothing reads past it.
      inputs.push_back(source + 1 - first + input);
    }
    part.Add(node.name, node.operation, std::move(inputs));
  }
}

Graph Built(GraphBuilder part) {
  auto built = std::move(part).BuildPart();
  TRIBUTARY_CHECK(built.ok());
  return std::move(built).value();
}

}  // namespace

Graph PartOf(const Graph& graph, NodeIndex first, NodeIndex last) {
  TRIBUTARY_CHECK(first >= 1 && first <= last && last < graph.size());
  GraphBuilder part(graph.name(), graph.shape(first - 1));
  Append(graph, first, last, 0, part);
  return Built(std::move(part));
}

Graph EndsOf(const Graph& graph, NodeIndex cut, NodeIndex tail) {
  TRIBUTARY_CHECK(cut >= 1 && cut < tail && tail + 1 < graph.size());
  GraphBuilder ends(graph.name(), graph.input_shape());
  Append(graph, 1, cut, 0, ends);
  const NodeIndex input = ends.Add(graph.node(tail).name, Input{graph.shape(tail)}, {});
  Append(graph, tail + 1, graph.size() - 1, input, ends);
  return Built(std::move(ends));
}

}  // namespace tributary
