#include "tributary/model/layout.h"

#include "tributary/base/flat_buffer.h"

namespace tributary {
namespace {

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

}  // namespace tributary
