#include "tributary/model/cost.h"

#include <optional>

#include "tributary/model/layout.h"
#include "tributary/model/model.h"

namespace tributary::inline model {
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

// The nodes that are trained, or that read what such a node gave.
std::vector<bool> GoneBackThrough(const Model& model) {
  std::vector<bool> result(model.graph.size(), false);
  for (const TransferUnit& unit : model.units) {
    for (const NodeIndex node : unit.nodes) result[node] = true;
  }
  for (NodeIndex node = 0; node < model.graph.size(); ++node) {
    for (const NodeIndex input : model.graph.node(node).inputs) result[node] = result[node] || result[input];
  }
  return result;
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

UnitCosts CostsOfUnits(const Model& model) {
  const std::size_t units = model.units.size();
  UnitCosts costs{std::vector<double>(units, 0), std::vector<double>(units, 0),
                  std::vector<std::int64_t>(units, 0)};
  if (units == 0) return costs;
  std::vector<std::optional<std::size_t>> begins(model.graph.size());
  for (std::size_t unit = 0; unit < units; ++unit) begins[model.units[unit].nodes.front()] = unit;
  const std::vector<bool> gone_back = GoneBackThrough(model);
  std::size_t current = 0;
  for (NodeIndex node = 0; node < model.graph.size(); ++node) {
    if (begins[node]) current = *begins[node];
    const auto macs = static_cast<double>(model.costs[node].macs.value);
    costs.macs[current] += macs;
    if (gone_back[node]) costs.backward[current] += (model.frozen[node] ? 1 : 2) * macs;
  }
  for (std::size_t unit = 0; unit < units; ++unit) {
    const std::size_t floats = model.parameters.units[unit].count + model.statistics.units[unit].count;
    costs.bytes[unit] = static_cast<std::int64_t>(floats * sizeof(float));
  }
  return costs;
}

}  // namespace tributary::inline model
