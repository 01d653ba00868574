#include "tributary/model/subnetwork_graph.h"

#include <algorithm>

#include "tributary/base/check.h"
#include "tributary/model/channel_groups.h"

namespace tributary::inline model {
namespace {

std::int64_t Size(const std::vector<std::int32_t>& channels) {
  return static_cast<std::int64_t>(channels.size());
}

// A layer with blocks keeps whole blocks of unchanged size.
std::int64_t BlocksLeft(std::int64_t blocks, std::int64_t channels, std::int64_t left) {
  TRIBUTARY_CHECK(left * blocks % channels == 0);
  return left * blocks / channels;
}

// The range of slots of each unit; slots are ordered by unit.
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

// Whether the tensor is a weight with a column per input channel; others have whole rows or single numbers.
bool HasColumns(const Graph& graph, const Layout::Slot& slot) {
  const auto& shape = slot.tensor.shape;
  return shape.size() > 1 && shape[1] == graph.shape(graph.node(slot.node).inputs[0]).channels;
}

}  // namespace

Graph SubnetworkGraph(const Model& whole, const KeptAtoms& kept) {
  const Graph& graph = whole.graph;
  const auto channels = ChannelsThatRemain(whole.channels, kept);
  GraphBuilder subnetwork(graph.name(), graph.input_shape());
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const Node& node = graph.node(i);
    Operation operation = node.operation;
    WithLayer(operation, [&](auto& layer) { layer.outputs() = Size(channels[i]); });
    std::visit(
        [&](auto& op) {
          if constexpr (requires { op.groups; }) {
            const NodeIndex input = node.inputs[0];
            if (op.blocks() > 0)
              op.groups = BlocksLeft(op.groups, graph.shape(input).channels, Size(channels[input]));
          }
        },
        operation);
    subnetwork.Add(node.name, std::move(operation), node.inputs);
  }
  return std::move(subnetwork).BuildPart().value();
}

Model SubnetworkModel(const Model& whole, const KeptAtoms& kept) {
  return Model(SubnetworkGraph(whole, kept), whole.frozen, whole.constant_values);
}

SubnetworkMap::SubnetworkMap(const Model& whole, const Model& subnetwork)
    : whole_(whole), subnetwork_(subnetwork) {
  TRIBUTARY_CHECK(whole.parameters.slots.size() == subnetwork.parameters.slots.size() &&
                  whole.statistics.slots.size() == subnetwork.statistics.slots.size() &&
                  whole.units.size() == subnetwork.units.size());
  slots_of_unit_[0] = SlotsOfUnits(whole.parameters);
  slots_of_unit_[1] = SlotsOfUnits(whole.statistics);
}

void SubnetworkMap::Keep(const KeptAtoms& kept) {
  channels_ = ChannelsThatRemain(whole_.channels, kept);
  runs_.assign(channels_.size(), {});
  for (NodeIndex node = 0; node < channels_.size(); ++node) {
    TRIBUTARY_CHECK(static_cast<std::int64_t>(channels_[node].size()) ==
                    subnetwork_.graph.shape(node).channels);
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
void SubnetworkMap::ForStretches(const Layout::Slot& whole, const Layout::Slot& subnetwork,
                                 const Copy& copy) const {
  const std::size_t whole_row = whole.segment.count / static_cast<std::size_t>(whole.tensor.shape[0]);
  const std::size_t subnetwork_row =
      subnetwork.segment.count / static_cast<std::size_t>(subnetwork.tensor.shape[0]);
  if (!HasColumns(whole_.graph, whole)) {
    TRIBUTARY_CHECK(whole_row == subnetwork_row);
    for (const Run& run : runs_[whole.node]) {
      copy(whole.segment.offset + static_cast<std::size_t>(run.whole) * whole_row,
           subnetwork.segment.offset + static_cast<std::size_t>(run.subnetwork) * subnetwork_row,
           static_cast<std::size_t>(run.count) * whole_row);
    }
    return;
  }
  const NodeIndex input = whole_.graph.node(whole.node).inputs[0];
  const std::size_t column = whole_row / static_cast<std::size_t>(whole.tensor.shape[1]);
  const std::vector<std::int32_t>& rows = channels_[whole.node];
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const std::size_t from = whole.segment.offset + static_cast<std::size_t>(rows[i]) * whole_row;
    const std::size_t to = subnetwork.segment.offset + i * subnetwork_row;
    for (const Run& run : runs_[input]) {
      copy(from + static_cast<std::size_t>(run.whole) * column,
           to + static_cast<std::size_t>(run.subnetwork) * column,
           static_cast<std::size_t>(run.count) * column);
    }
  }
}

template <typename Copy>
void SubnetworkMap::ForUnit(Part part, std::size_t unit, const Copy& copy) const {
  const bool parameters = part == Part::kParameters;
  const Layout& whole = parameters ? whole_.parameters : whole_.statistics;
  const Layout& subnetwork = parameters ? subnetwork_.parameters : subnetwork_.statistics;
  const auto [first, end] = slots_of_unit_[parameters ? 0 : 1][unit];
  for (std::size_t slot = first; slot < end; ++slot)
    ForStretches(whole.slots[slot], subnetwork.slots[slot], copy);
}

void SubnetworkMap::Gather(Part part, std::size_t unit, std::span<const float> whole,
                           std::span<float> subnetwork) const {
  ForUnit(part, unit, [&](std::size_t from, std::size_t to, std::size_t count) {
    std::copy_n(whole.data() + from, count, subnetwork.data() + to);
  });
}

void SubnetworkMap::Scatter(Part part, std::size_t unit, std::span<const float> subnetwork,
                            std::span<float> whole) const {
  ForUnit(part, unit, [&](std::size_t to, std::size_t from, std::size_t count) {
    std::copy_n(subnetwork.data() + from, count, whole.data() + to);
  });
}

void SubnetworkMap::GatherAll(Part part, std::span<const float> whole, std::span<float> subnetwork) const {
  for (std::size_t unit = 0; unit < whole_.units.size(); ++unit) Gather(part, unit, whole, subnetwork);
}

void SubnetworkMap::ScatterAll(Part part, std::span<const float> subnetwork, std::span<float> whole) const {
  for (std::size_t unit = 0; unit < whole_.units.size(); ++unit) Scatter(part, unit, subnetwork, whole);
}

void SubnetworkMap::Compensate(std::size_t unit, std::span<float> subnetwork) const {
  const auto [first, end] = slots_of_unit_[0][unit];
  for (std::size_t i = first; i < end; ++i) {
    const Layout::Slot& slot = subnetwork_.parameters.slots[i];
    if (!HasColumns(whole_.graph, whole_.parameters.slots[i])) continue;
    const NodeIndex input = whole_.graph.node(slot.node).inputs[0];
    const auto& groups = whole_.channels.of_node[input];
    const std::vector<std::int32_t>& columns = channels_[input];
    const auto rows = static_cast<std::size_t>(slot.tensor.shape[0]);
    const std::size_t column = slot.segment.count / rows / columns.size();
    float* value = subnetwork.data() + slot.segment.offset;
    for (std::size_t row = 0; row < rows; ++row) {
      for (const std::int32_t channel : columns) {
        const std::int32_t group = groups[static_cast<std::size_t>(channel)].group;
        const float factor = group < 0 ? 1.0F : factor_of_group_[static_cast<std::size_t>(group)];
        for (std::size_t k = 0; k < column; ++k) *value++ *= factor;
      }
    }
  }
}

Graph NarrowGraph(Graph whole, double width) {
  TRIBUTARY_CHECK(width > 0 && width <= 1);
  if (width == 1) return whole;
  const Model model(std::move(whole));
  const std::vector<double> rates(model.channels.groups.size(), 1 - width);
  const std::vector<std::int64_t> counts = KeptCounts(model.channels, rates);
  KeptAtoms kept = AllAtoms(model.channels);
  for (std::size_t i = 0; i < kept.size(); ++i) kept[i].resize(static_cast<std::size_t>(counts[i]));
  return SubnetworkGraph(model, kept);
}

FilterScaling SuitableScaling(const Graph& graph) {
  const bool norms =
      std::ranges::any_of(graph.nodes(), [](const Node& node) { return IsNorm(node.operation); });
  return norms ? FilterScaling::kNone : FilterScaling::kInverse;
}

}  // namespace tributary::inline model
