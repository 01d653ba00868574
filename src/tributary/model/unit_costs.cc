#include "tributary/model/unit_costs.h"

#include <optional>

namespace tributary {

UnitCosts CostsOfUnits(const Model& model) {
  const std::size_t units = model.units.size();
  UnitCosts costs{std::vector<double>(units, 0), std::vector<std::int64_t>(units, 0)};
  if (units == 0) return costs;
  std::vector<std::optional<std::size_t>> begins(model.graph.size());
  for (std::size_t unit = 0; unit < units; ++unit) begins[model.units[unit].nodes.front()] = unit;
  std::size_t current = 0;
  for (NodeIndex node = 0; node < model.graph.size(); ++node) {
    if (begins[node]) current = *begins[node];
    costs.macs[current] += static_cast<double>(model.costs[node].macs.value);
  }
  for (std::size_t unit = 0; unit < units; ++unit) {
    const std::size_t floats = model.parameters.units[unit].count + model.statistics.units[unit].count;
    costs.bytes[unit] = static_cast<std::int64_t>(floats * sizeof(float));
  }
  return costs;
}

}  // namespace tributary
