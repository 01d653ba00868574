#include "tributary/model/node_tensors.h"

#include <functional>
#include <numeric>

namespace tributary {

using Role = NodeTensor::Role;

std::int64_t NodeTensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string_view NodeTensor::suffix() const {
  switch (role) {
    case Role::kWeight:
      return "weight";
    case Role::kBias:
      return "bias";
    case Role::kRunningMean:
      return "running_mean";
    case Role::kRunningVariance:
      return "running_var";
  }
  return "";
}

std::vector<NodeTensor> ParametersOf(const Graph& graph, NodeIndex index) {
  const Node& node = graph.node(index);
  const std::int64_t out = graph.shape(index).channels;
  std::vector<NodeTensor> tensors;
  if (const auto* conv = std::get_if<Conv>(&node.operation)) {
    const std::int64_t in = graph.shape(node.inputs[0]).channels / conv->groups;
    tensors.push_back({Role::kWeight, {out, in, conv->kernel.height, conv->kernel.width}});
    if (conv->bias) tensors.push_back({Role::kBias, {out}});
  } else if (const auto* linear = std::get_if<Linear>(&node.operation)) {
    tensors.push_back({Role::kWeight, {out, graph.shape(node.inputs[0]).channels}});
    if (linear->bias) tensors.push_back({Role::kBias, {out}});
  } else if (std::holds_alternative<BatchNorm>(node.operation) ||
             std::holds_alternative<GroupNorm>(node.operation)) {
    tensors.push_back({Role::kWeight, {out}});
    tensors.push_back({Role::kBias, {out}});
  }
  return tensors;
}

std::vector<NodeTensor> StatisticsOf(const Graph& graph, NodeIndex index) {
  if (!std::holds_alternative<BatchNorm>(graph.node(index).operation)) return {};
  const std::int64_t channels = graph.shape(index).channels;
  return {{Role::kRunningMean, {channels}}, {Role::kRunningVariance, {channels}}};
}

}  // namespace tributary
