#include "tributary/model/transfer_units.h"

#include <optional>

namespace tributary {
namespace {

bool IsLayer(const Operation& operation) {
  return std::holds_alternative<Conv>(operation) || std::holds_alternative<Linear>(operation);
}

bool IsNorm(const Operation& operation) {
  return std::holds_alternative<BatchNorm>(operation) || std::holds_alternative<GroupNorm>(operation);
}

// Nodes that hand on their input's channels one by one: a norm keeps its layer, or its next layer, across them.
bool IsElementwise(const Operation& operation) {
  return std::holds_alternative<Relu>(operation) || std::holds_alternative<Relu6>(operation) ||
         std::holds_alternative<Dropout>(operation);
}

}  // namespace

std::vector<TransferUnit> TransferUnits(const Graph& graph) {
  std::vector<TransferUnit> units;
  std::vector<std::optional<std::size_t>> unit_of(graph.size());
  // Per node, the unit of a norm that still waits for its layer, handed on through elementwise nodes.
  std::vector<std::optional<std::size_t>> waiting(graph.size());

  const auto join = [&](std::size_t unit, NodeIndex node) {
    units[unit].nodes.push_back(node);
    unit_of[node] = unit;
  };
  const auto start = [&](NodeIndex node) {
    units.push_back({graph.node(node).name, {}});
    join(units.size() - 1, node);
  };

  const auto is_last = [&](std::size_t unit) { return unit + 1 == units.size(); };

  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    if (std::holds_alternative<Input>(node.operation)) continue;
    const NodeIndex source = node.inputs[0];
    if (IsLayer(node.operation)) {
      const auto norm = waiting[source];
      const bool free = norm && is_last(*norm) && !IsLayer(graph.node(units[*norm].nodes.back()).operation);
      if (free) {
        units[*norm].name = node.name;
        join(*norm, i);
      } else {
        start(i);
      }
    } else if (IsNorm(node.operation)) {
      if (IsLayer(graph.node(source).operation) && is_last(*unit_of[source])) {
        join(*unit_of[source], i);
      } else {
        start(i);
        waiting[i] = unit_of[i];
      }
    } else if (IsElementwise(node.operation)) {
      waiting[i] = waiting[source];
    }
  }
  return units;
}

}  // namespace tributary
