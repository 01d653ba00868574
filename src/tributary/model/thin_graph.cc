#include "tributary/model/thin_graph.h"

#include "tributary/base/check.h"

namespace tributary {
namespace {

std::int64_t Size(const std::vector<std::int32_t>& channels) {
  return static_cast<std::int64_t>(channels.size());
}

// A layer that works block by block keeps whole blocks, of as many channels as before.
std::int64_t BlocksLeft(std::int64_t blocks, std::int64_t channels, std::int64_t left) {
  TRIBUTARY_CHECK(left * blocks % channels == 0);
  return left * blocks / channels;
}

}  // namespace

Graph ThinGraph(const Model& whole, const KeptAtoms& kept) {
  const Graph& graph = whole.graph;
  const auto channels = ChannelsThatRemain(whole.channels, kept);
  GraphBuilder thin(graph.name(), graph.input_shape());
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    Operation operation = node.operation;
    if (auto* conv = std::get_if<Conv>(&operation)) {
      const NodeIndex input = node.inputs[0];
      conv->out_channels = Size(channels[i]);
      if (conv->groups > 1) {
        conv->groups = BlocksLeft(conv->groups, graph.shape(input).channels, Size(channels[input]));
      }
    } else if (auto* linear = std::get_if<Linear>(&operation)) {
      linear->out_features = Size(channels[i]);
    } else if (auto* norm = std::get_if<GroupNorm>(&operation)) {
      norm->groups = BlocksLeft(norm->groups, graph.shape(i).channels, Size(channels[i]));
    }
    thin.Add(node.name, std::move(operation), node.inputs);
  }
  auto built = std::move(thin).BuildPart();
  TRIBUTARY_CHECK(built.ok());
  return std::move(built).value();
}

Model ThinModel(const Model& whole, const KeptAtoms& kept) {
  return Model(ThinGraph(whole, kept), whole.frozen, whole.constant_values);
}

}  // namespace tributary
