#include "tributary/model/graph.h"

#include <unordered_set>

#include "tributary/model/layout.h"

namespace tributary::inline model {

GraphBuilder::GraphBuilder(std::string name, Shape input) {
  graph_.name_ = std::move(name);
  Add("input", Input{input}, {});
}

NodeIndex GraphBuilder::Add(std::string name, Operation operation, std::vector<NodeIndex> inputs) {
  const NodeIndex index = graph_.nodes_.size();
  const auto fail = [&](std::string reason) {
    if (first_error_.ok()) {
      first_error_ = InvalidArgument("node '" + name + "' (" + std::string(KindName(operation)) + ") of " +
                                     graph_.name_ + ": " + std::move(reason));
    }
  };
  std::vector<Shape> shapes;
  for (const NodeIndex input : inputs) {
    if (input < index) {
      shapes.push_back(graph_.shapes_[input]);
    } else {
      fail("reads node " + std::to_string(input) + ", which does not come before it");
    }
  }

  Shape shape{};
  if (first_error_.ok()) {
    auto inferred = InferShape(operation, shapes);
    if (inferred.ok()) {
      shape = *inferred;
    } else {
      fail(inferred.status().message());
    }
  }
  for (const NodeIndex input : inputs) {
    if (input < index) graph_.last_uses_[input] = index;
  }
  graph_.nodes_.push_back({std::move(name), std::move(operation), std::move(inputs)});
  graph_.shapes_.push_back(shape);
  graph_.last_uses_.push_back(index);
  return index;
}

Shape GraphBuilder::shape(NodeIndex index) const {
  return index < graph_.shapes_.size() ? graph_.shapes_[index] : Shape{};
}

StatusOr<Graph> GraphBuilder::Build() && {
  for (NodeIndex i = 1; i < graph_.size() && first_error_.ok(); ++i) {
    if (!std::holds_alternative<Input>(graph_.node(i).operation)) continue;
    return InvalidArgument("node '" + graph_.node(i).name + "' (input) of " + graph_.name_ +
                           ": a network has one input, and it is the first node");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, std::move(*this).BuildPart());
  if (!graph.shapes_.back().flat) {
    return InvalidArgument("the last node '" + graph.nodes_.back().name + "' of " + graph.name_ +
                           " must give one score per class, found " + FormatShape(graph.shapes_.back()) +
                           "; end with flatten and linear");
  }
  return graph;
}

StatusOr<Graph> GraphBuilder::BuildPart() && {
  if (!first_error_.ok()) return first_error_;
  std::unordered_set<std::string_view> names;
  for (NodeIndex i = 0; i < graph_.size(); ++i) {
    const Node& node = graph_.node(i);
    if (node.name.empty())
      return InvalidArgument("node " + std::to_string(i) + " of " + graph_.name_ + " has no name");
    if (!names.insert(node.name).second)
      return InvalidArgument("two nodes of " + graph_.name_ + " are named '" + node.name + "'");
    const bool ends = i + 1 == graph_.size() || std::holds_alternative<Input>(graph_.node(i + 1).operation);
    if (!ends && graph_.last_use(i) == i)
      return InvalidArgument("node '" + node.name + "' of " + graph_.name_ + " is used by no other node");
  }
  if (graph_.size() < 2) return InvalidArgument(graph_.name_ + " has no layers");
  return std::move(graph_);
}

Status CheckGraphLimits(const Graph& graph) {
  constexpr std::size_t kMostNodes = 100'000;
  constexpr std::int64_t kMostChannels = std::int64_t{1} << 22;
  constexpr std::int64_t kMostParameters = std::int64_t{1} << 30;
  const auto too_large = [&](const std::string& what, std::int64_t most) {
    return ResourceExhausted(graph.name() + " has more than " + std::to_string(most) + " " + what);
  };
  if (graph.size() > kMostNodes) return too_large("nodes", static_cast<std::int64_t>(kMostNodes));
  std::int64_t channels = 0;
  std::int64_t parameters = 0;
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    channels += graph.shape(i).channels;
    if (channels > kMostChannels)
      return too_large("channels and columns in all its layers together", kMostChannels);
    for (const NodeTensor& tensor : ParametersOf(graph, i)) parameters += tensor.elements();
    if (parameters > kMostParameters) return too_large("parameters", kMostParameters);
  }
  return OkStatus();
}

}  // namespace tributary::inline model
