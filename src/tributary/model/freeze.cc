#include "tributary/model/freeze.h"

#include <algorithm>
#include <map>

#include "tributary/base/check.h"
#include "tributary/base/names.h"

namespace tributary::inline model {
namespace {

bool IsIn(std::string_view layer, std::string_view module) {
  return layer == module ||
         (layer.starts_with(module) && layer.size() > module.size() && layer[module.size()] == '.');
}

// The unit's name and every module it lies in: what a person could have meant.
void AddNames(const std::string& unit, std::vector<std::string>& names) {
  for (std::size_t end = unit.size(); end != std::string::npos && end > 0; end = unit.rfind('.', end - 1)) {
    const std::string name = unit.substr(0, end);
    if (std::ranges::find(names, name) == names.end()) names.push_back(name);
  }
}

using NamedSlots = std::map<std::string_view, const Layout::Slot*>;

NamedSlots ByName(const Layout& layout) {
  NamedSlots slots;
  for (const Layout::Slot& slot : layout.slots) slots[slot.name] = &slot;
  return slots;
}

void CopySlots(const NamedSlots& whole, std::span<const float> from, const Layout& layout,
               std::span<float> to) {
  for (const Layout::Slot& slot : layout.slots) {
    const auto source = whole.find(slot.name);
    if (source == whole.end()) continue;
    TRIBUTARY_CHECK(source->second->segment.count == slot.segment.count);
    std::ranges::copy(from.subspan(source->second->segment.offset, slot.segment.count),
                      to.begin() + static_cast<std::ptrdiff_t>(slot.segment.offset));
  }
}

}  // namespace

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
  std::vector<TransferUnit> units = TransferUnits(whole.graph);
  std::erase_if(units, [&](const TransferUnit& unit) { return !nodes[unit.nodes.front()]; });
  const Layout layout = WholeLayout(whole.graph, units);
  FlatBuffer values(layout.size);
  CopySlots(ByName(whole.parameters), parameters, layout, values.span());
  CopySlots(ByName(whole.statistics), statistics, layout, values.span());
  return Model(whole.graph, std::move(nodes),
               layout.size > 0 ? std::make_shared<const FlatBuffer>(std::move(values)) : nullptr);
}

void CopyTrained(const Layout& whole, std::span<const float> from, const Layout& trained,
                 std::span<float> to) {
  CopySlots(ByName(whole), from, trained, to);
}

}  // namespace tributary::inline model
