#include "tributary/model/unit_costs.h"

#include <optional>

namespace tributary {
namespace {

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

}  // namespace tributary
