#include "tributary/model/thin_map.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary {
namespace {

// Which slots of a layout belong to each unit: they stand unit by unit.
std::vector<std::pair<std::size_t, std::size_t>> SlotsOfUnits(const Layout& layout) {
  std::vector<std::pair<std::size_t, std::size_t>> slots;
  std::size_t next = 0;
  for (const Segment& unit : layout.units) {
    const std::size_t first = next;
    while (next < layout.slots.size() && layout.slots[next].segment.offset < unit.end()) ++next;
    slots.emplace_back(first, next);
  }
  TRIBUTARY_CHECK(next == layout.slots.size());
  return slots;
}

// Layers whose weight has a column for every channel they read; others have whole rows or single numbers.
bool ReadsAllChannels(const Operation& operation) {
  const auto* conv = std::get_if<Conv>(&operation);
  return (conv != nullptr && conv->groups == 1) || std::holds_alternative<Linear>(operation);
}

bool HasColumns(const Graph& graph, const Layout::Slot& slot) {
  return slot.tensor.role == NodeTensor::Role::kWeight && ReadsAllChannels(graph.node(slot.node).operation);
}

}  // namespace

ThinMap::ThinMap(const Model& whole, const Model& thin) : whole_(whole), thin_(thin) {
  TRIBUTARY_CHECK(whole.parameters.slots.size() == thin.parameters.slots.size() &&
                  whole.statistics.slots.size() == thin.statistics.slots.size() &&
                  whole.units.size() == thin.units.size());
  slots_of_unit_[0] = SlotsOfUnits(whole.parameters);
  slots_of_unit_[1] = SlotsOfUnits(whole.statistics);
}

void ThinMap::Keep(const KeptAtoms& kept) {
  channels_ = ChannelsThatRemain(whole_.channels, kept);
  runs_.assign(channels_.size(), {});
  for (NodeIndex node = 0; node < channels_.size(); ++node) {
    TRIBUTARY_CHECK(static_cast<std::int64_t>(channels_[node].size()) == thin_.graph.shape(node).channels);
    for (std::size_t i = 0; i < channels_[node].size(); ++i) {
      const std::int32_t channel = channels_[node][i];
      auto& runs = runs_[node];
      if (!runs.empty() && runs.back().whole + runs.back().count == channel) {
        ++runs.back().count;
      } else {
        runs.push_back({channel, static_cast<std::int32_t>(i), 1});
      }
    }
  }
  factor_of_group_.clear();
  for (std::size_t group = 0; group < kept.size(); ++group) {
    factor_of_group_.push_back(static_cast<float>(whole_.channels.groups[group].atoms) /
                               static_cast<float>(kept[group].size()));
  }
}

template <typename Copy>
void ThinMap::ForStretches(const Layout::Slot& whole, const Layout::Slot& thin, const Copy& copy) const {
  const std::size_t whole_row = whole.segment.count / static_cast<std::size_t>(whole.tensor.shape[0]);
  const std::size_t thin_row = thin.segment.count / static_cast<std::size_t>(thin.tensor.shape[0]);
  if (!HasColumns(whole_.graph, whole)) {
    TRIBUTARY_CHECK(whole_row == thin_row);
    for (const Run& run : runs_[whole.node]) {
      copy(whole.segment.offset + static_cast<std::size_t>(run.whole) * whole_row,
           thin.segment.offset + static_cast<std::size_t>(run.thin) * thin_row,
           static_cast<std::size_t>(run.count) * whole_row);
    }
    return;
  }
  const NodeIndex input = whole_.graph.node(whole.node).inputs[0];
  const std::size_t column = whole_row / static_cast<std::size_t>(whole.tensor.shape[1]);
  const std::vector<std::int32_t>& rows = channels_[whole.node];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t from = whole.segment.offset + static_cast<std::size_t>(rows[i]) * whole_row;
    const std::size_t to = thin.segment.offset + i * thin_row;
    for (const Run& run : runs_[input]) {
      copy(from + static_cast<std::size_t>(run.whole) * column,
           to + static_cast<std::size_t>(run.thin) * column, static_cast<std::size_t>(run.count) * column);
    }
  }
}

template <typename Copy>
void ThinMap::ForUnit(Part part, std::size_t unit, const Copy& copy) const {
  const bool parameters = part == Part::kParameters;
  const Layout& whole = parameters ? whole_.parameters : whole_.statistics;
  const Layout& thin = parameters ? thin_.parameters : thin_.statistics;
  const auto [first, end] = slots_of_unit_[parameters ? 0 : 1][unit];
  for (std::size_t slot = first; slot < end; ++slot) ForStretches(whole.slots[slot], thin.slots[slot], copy);
}

void ThinMap::Gather(Part part, std::size_t unit, std::span<const float> whole, std::span<float> thin) const {
  ForUnit(part, unit, [&](std::size_t from, std::size_t to, std::size_t count) {
    std::copy_n(whole.data() + from, count, thin.data() + to);
  });
}

void ThinMap::Scatter(Part part, std::size_t unit, std::span<const float> thin,
                      std::span<float> whole) const {
  ForUnit(part, unit, [&](std::size_t to, std::size_t from, std::size_t count) {
    std::copy_n(thin.data() + from, count, whole.data() + to);
  });
}

void ThinMap::GatherAll(Part part, std::span<const float> whole, std::span<float> thin) const {
  for (std::size_t unit = 0; unit < whole_.units.size(); ++unit) Gather(part, unit, whole, thin);
}

void ThinMap::ScatterAll(Part part, std::span<const float> thin, std::span<float> whole) const {
  for (std::size_t unit = 0; unit < whole_.units.size(); ++unit) Scatter(part, unit, thin, whole);
}

void ThinMap::Compensate(std::size_t unit, std::span<float> thin) const {
  const auto [first, end] = slots_of_unit_[0][unit];
  for (std::size_t i = first; i < end; ++i) {
    const Layout::Slot& slot = thin_.parameters.slots[i];
    if (!HasColumns(whole_.graph, whole_.parameters.slots[i])) continue;
    const NodeIndex input = whole_.graph.node(slot.node).inputs[0];
    const auto& groups = whole_.channels.of_node[input];
    const std::vector<std::int32_t>& columns = channels_[input];
    const auto rows = static_cast<std::size_t>(slot.tensor.shape[0]);
    const std::size_t column = slot.segment.count / rows / columns.size();
    float* value = thin.data() + slot.segment.offset;
    for (std::size_t row = 0; row < rows; ++row) {
      for (const std::int32_t channel : columns) {
        const std::int32_t group = groups[static_cast<std::size_t>(channel)].group;
        const float factor = group < 0 ? 1.0F : factor_of_group_[static_cast<std::size_t>(group)];
        for (std::size_t k = 0; k < column; ++k) *value++ *= factor;
      }
    }
  }
}

}  // namespace tributary
