#include "tributary/model/model.h"

#include <algorithm>
#include <map>
#include <optional>

#include "tributary/base/check.h"
#include "tributary/base/names.h"

namespace tributary::inline model {
namespace {

std::vector<TransferUnit> UnitsThat(bool are_frozen, const Graph& graph, const std::vector<bool>& frozen) {
  std::vector<TransferUnit> units = TransferUnits(graph);
  std::erase_if(units, [&](const TransferUnit& unit) { return frozen[unit.nodes.front()] != are_frozen; });
  return units;
}

// The nodes in the backward pass: trained nodes and all nodes that depend on them.
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

bool IsIn(std::string_view layer, std::string_view module) {
  return layer == module ||
         (layer.starts_with(module) && layer.size() > module.size() && layer[module.size()] == '.');
}

// The unit's name and the modules that contain it, as suggestions for an unknown name.
void AddNames(const std::string& unit, std::vector<std::string>& names) {
  for (std::size_t end = unit.size(); end != std::string::npos && end > 0; end = unit.rfind('.', end - 1)) {
    const std::string name = unit.substr(0, end);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
}

}  // namespace

Model::Model(Graph g) : Model(std::move(g), {}, nullptr) {}

Model::Model(Graph g, std::vector<bool> frozen_nodes, std::shared_ptr<const FlatBuffer> values)
    : graph(std::move(g)),
      costs(NodeCosts(graph)),
      cuts(SplitPoints(graph)),
      frozen(frozen_nodes.empty() ? std::vector<bool>(graph.size(), false) : std::move(frozen_nodes)),
      units(UnitsThat(false, graph, frozen)),
      channels(FindChannelGroups(graph, frozen)),
      parameters(ParameterLayout(graph, units)),
      statistics(StatisticsLayout(graph, units)),
      constants(WholeLayout(graph, UnitsThat(true, graph, frozen))),
      constant_values(std::move(values)) {
  TRIBUTARY_CHECK(frozen.size() == graph.size());
  TRIBUTARY_CHECK(constants.size == (constant_values ? constant_values->size() : 0));
}

std::vector<NodeCost> NodeCosts(const Graph& graph) {
  std::vector<NodeCost> costs;
  for (NodeIndex i = 0; i < graph.size(); ++i) {
    const Shape& shape = graph.shape(i);
    const std::vector<NodeTensor> tensors = ParametersOf(graph, i);
    NodeCost cost{{}, 0, Bytes{shape.elements() * std::int64_t{sizeof(float)}}};
    for (const NodeTensor& tensor : tensors) cost.parameters += tensor.elements();
    // Each output element of a layer uses one row of its weight.
    if (TraitsOf(graph.node(i).operation).role == LayerRole::kLayer)
      cost.macs = {shape.elements() * (tensors[0].elements() / shape.channels)};
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

StatusOr<std::vector<bool>> FrozenNodes(const Graph& graph, std::span<const std::string> names) {
  const std::vector<TransferUnit> units = TransferUnits(graph);
  std::vector<bool> frozen(graph.size(), false);
  std::vector<bool> used(names.size(), false);
  bool trains = false;
  for (const TransferUnit& unit : units) {
    bool freeze = false;
    for (std::size_t i = 0; i < names.size(); ++i) {
      if (!IsIn(unit.name, names[i])) continue;
      freeze = used[i] = true;
    }
    for (const NodeIndex node : unit.nodes) frozen[node] = freeze;
    trains = trains || !freeze;
  }
  const auto unused = std::ranges::find(used, false);
  if (unused != used.end()) {
    std::vector<std::string> known;
    for (const TransferUnit& unit : units) AddNames(unit.name, known);
    return UnknownName("layer of " + graph.name(), names[static_cast<std::size_t>(unused - used.begin())],
                       known);
  }
  if (!trains)
    return InvalidArgument("all layers of " + graph.name() + " are frozen, and there is nothing to train");
  return frozen;
}

Model Freeze(const Model& whole, std::vector<bool> nodes, std::span<const float> parameters,
             std::span<const float> statistics) {
  const Layout layout = WholeLayout(whole.graph, UnitsThat(true, whole.graph, nodes));
  FlatBuffer values(layout.size);
  CopyTrained(whole.parameters, parameters, layout, values.span());
  CopyTrained(whole.statistics, statistics, layout, values.span());
  return Model(whole.graph, std::move(nodes),
               layout.size > 0 ? std::make_shared<const FlatBuffer>(std::move(values)) : nullptr);
}

void CopyTrained(const Layout& whole, std::span<const float> from, const Layout& trained,
                 std::span<float> to) {
  std::map<std::string_view, const Layout::Slot*> sources;
  for (const Layout::Slot& slot : whole.slots) sources[slot.name] = &slot;
  for (const Layout::Slot& slot : trained.slots) {
    const auto source = sources.find(slot.name);
    if (source == sources.end()) continue;
    TRIBUTARY_CHECK(source->second->segment.count == slot.segment.count);
    std::ranges::copy(from.subspan(source->second->segment.offset, slot.segment.count),
                      to.begin() + static_cast<std::ptrdiff_t>(slot.segment.offset));
  }
}

}  // namespace tributary::inline model
