#include "tributary/model/layout.h"

#include <functional>
#include <numeric>
#include <optional>

#include "tributary/base/flat_buffer.h"

namespace tributary::inline model {
namespace {

bool IsLayer(const Operation& operation) { return TraitsOf(operation).role == LayerRole::kLayer; }

constexpr std::size_t kFloatsPerLine = FlatBuffer::kAlignment / sizeof(float);

std::size_t RoundUp(std::size_t floats) {
  return (floats + kFloatsPerLine - 1) / kFloatsPerLine * kFloatsPerLine;
}

template <typename TensorsOf>
Layout MakeLayout(const Graph& graph, const std::vector<TransferUnit>& units, TensorsOf tensors_of) {
  Layout layout;
  for (const TransferUnit& unit : units) {
    const std::size_t start = layout.size;
    for (const NodeIndex node : unit.nodes) {
      for (NodeTensor& tensor : tensors_of(graph, node)) {
        const Segment segment{layout.size, static_cast<std::size_t>(tensor.elements())};
        std::string name = graph.node(node).name + "." + std::string(tensor.suffix());
        layout.slots.push_back({node, std::move(tensor), std::move(name), segment});
        layout.size = RoundUp(segment.end());
      }
    }
    layout.units.push_back({start, layout.size - start});
  }
  return layout;
}

}  // namespace

std::int64_t NodeTensor::elements() const {
  return std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies<>());
}

std::string_view NodeTensor::suffix() const {
  constexpr std::string_view kSuffixes[] = {"weight", "bias", "running_mean", "running_var"};
  return kSuffixes[static_cast<std::size_t>(role)];
}

std::vector<NodeTensor> ParametersOf(const Graph& graph, NodeIndex index) {
  const Node& node = graph.node(index);
  const std::vector<std::int64_t> out = {graph.shape(index).channels};
  std::vector<NodeTensor> tensors;
  WithLayer(node.operation, [&](const auto& layer) {
    tensors.push_back({NodeTensor::Role::kWeight, layer.WeightShape(graph.shape(node.inputs[0]).channels)});
    if (layer.bias) tensors.push_back({NodeTensor::Role::kBias, out});
  });
  if (IsNorm(node.operation)) tensors = {{NodeTensor::Role::kWeight, out}, {NodeTensor::Role::kBias, out}};
  return tensors;
}

std::vector<NodeTensor> StatisticsOf(const Graph& graph, NodeIndex index) {
  if (TraitsOf(graph.node(index).operation).role != LayerRole::kBatchNorm) return {};
  const std::int64_t channels = graph.shape(index).channels;
  return {{NodeTensor::Role::kRunningMean, {channels}}, {NodeTensor::Role::kRunningVariance, {channels}}};
}

std::vector<TransferUnit> TransferUnits(const Graph& graph) {
  std::vector<TransferUnit> units;
  std::vector<std::optional<std::size_t>> unit_of(graph.size());
  // Per node, the unit of a norm that still needs its layer, passed on through elementwise nodes.
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
      if (norm && is_last(*norm) && !IsLayer(graph.node(units[*norm].nodes.back()).operation)) {
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
    } else if (TraitsOf(node.operation).role == LayerRole::kElementwise) {
      waiting[i] = waiting[source];
    }
  }
  return units;
}

std::size_t Layout::From(NodeIndex node) const {
  for (const Slot& slot : slots) {
    if (slot.node >= node) return slot.segment.offset;
  }
  return size;
}

Layout ParameterLayout(const Graph& graph, const std::vector<TransferUnit>& units) {
  return MakeLayout(graph, units, ParametersOf);
}

Layout StatisticsLayout(const Graph& graph, const std::vector<TransferUnit>& units) {
  return MakeLayout(graph, units, StatisticsOf);
}

Layout WholeLayout(const Graph& graph, const std::vector<TransferUnit>& units) {
  return MakeLayout(graph, units, [](const Graph& of, NodeIndex node) {
    std::vector<NodeTensor> tensors = ParametersOf(of, node);
    for (NodeTensor& tensor : StatisticsOf(of, node)) tensors.push_back(std::move(tensor));
    return tensors;
  });
}

}  // namespace tributary::inline model
