#include "tributary/policy/dropout/thin_cost.h"

#include <map>

#include "tributary/base/check.h"

namespace tributary {

ThinCosts::ThinCosts(const Model& model) {
  const Graph& graph = model.graph;
  const auto channels_of = [&](NodeIndex node) {
    Channels channels;
    std::map<std::size_t, std::int64_t> counts;
    for (const ChannelGroups::Channel& channel : model.channels.of_node[node]) {
      if (channel.group < 0) {
        ++channels.fixed;
      } else {
        ++counts[static_cast<std::size_t>(channel.group)];
      }
    }
    for (const auto& [group, count] : counts) {
      const std::int64_t atoms = model.channels.groups[group].atoms;
      TRIBUTARY_CHECK(count % atoms == 0);  // Atoms of a group are made by the same layers, and are alike.
      channels.of_groups.emplace_back(group, count / atoms);
    }
    return channels;
  };
  for (NodeIndex i = 1; i < graph.size(); ++i) {
    const Operation& operation = graph.node(i).operation;
    const Shape& shape = graph.shape(i);
    outputs_.push_back(
        {shape.elements() / shape.channels * static_cast<std::int64_t>(sizeof(float)), channels_of(i)});
    if (model.costs[i].macs.value == 0) continue;
    const auto* conv = std::get_if<Conv>(&operation);
    const NodeIndex input = graph.node(i).inputs[0];
    Layer layer{
        .out = channels_of(i), .in = channels_of(input), .blocks = conv != nullptr && conv->groups > 1};
    // In a grouped convolution a channel reads its own block, which is kept whole.
    const std::int64_t reads = layer.blocks ? 1 : graph.shape(input).channels;
    layer.each = model.costs[i].macs.value / (shape.channels * reads);
    layers_.push_back(std::move(layer));
  }
}

std::int64_t ThinCosts::MacsOf(std::span<const std::int64_t> kept) const {
  std::int64_t macs = 0;
  for (const Layer& layer : layers_) {
    macs += layer.each * layer.out.Left(kept) * (layer.blocks ? 1 : layer.in.Left(kept));
  }
  return macs;
}

CostFeatures ThinCosts::FeaturesOf(std::span<const std::int64_t> kept) const {
  std::int64_t bytes = 0;
  for (const Output& output : outputs_) bytes += output.bytes * output.channels.Left(kept);
  return {3 * static_cast<double>(MacsOf(kept)), static_cast<double>(bytes)};
}

}  // namespace tributary
