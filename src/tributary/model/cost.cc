#include "tributary/model/cost.h"

#include "tributary/model/node_tensors.h"

namespace tributary {
namespace {

Macs NodeMacs(const Graph& graph, NodeIndex index) {
  const Node& node = graph.node(index);
  if (const auto* conv = std::get_if<Conv>(&node.operation)) {
    const std::int64_t in = graph.shape(node.inputs[0]).channels / conv->groups;
    return {graph.shape(index).elements() * in * conv->kernel.height * conv->kernel.width};
  }
  if (std::holds_alternative<Linear>(node.operation)) {
    return {graph.shape(index).channels * graph.shape(node.inputs[0]).channels};
  }
  return {0};
}

}  // namespace

std::vector<NodeCost> NodeCosts(const Graph& graph) {
  std::vector<NodeCost> costs;
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    NodeCost cost{NodeMacs(graph, i), 0, Bytes{graph.shape(i).elements() * std::int64_t{sizeof(float)}}};
    for (const NodeTensor& tensor : ParametersOf(graph, i)) cost.parameters += tensor.elements();
    costs.push_back(cost);
  }
  return costs;
}

Macs TotalMacs(const std::vector<NodeCost>& costs) {
  Macs total;
  for (const NodeCost& cost : costs) total += cost.macs;
  return total;
}

std::int64_t TotalParameters(const std::vector<NodeCost>& costs) {
  std::int64_t total = 0;
  for (const NodeCost& cost : costs) total += cost.parameters;
  return total;
}

Bytes TrainingMemory(const std::vector<NodeCost>& costs, std::int64_t batch) {
  Bytes outputs;
  for (const NodeCost& cost : costs) outputs += cost.output;
  const Bytes weights{TotalParameters(costs) * std::int64_t{sizeof(float)}};
  return weights * 3 + outputs * batch;
}

}  // namespace tributary
