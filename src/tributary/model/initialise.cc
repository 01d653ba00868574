#include "tributary/model/initialise.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"

namespace tributary::inline model {
namespace {

// Standard deviation of a layer's initial weights.
double WeightDeviation(const Graph& graph, NodeIndex index) {
  const Node& node = graph.node(index);
  double variance = 0;
  WithLayer(node.operation, [&](const auto& layer) {
    variance = layer.FirstVariance(graph.shape(node.inputs[0]).channels, index + 1 == graph.size());
  });
  return std::sqrt(variance);
}

// Uniform weights start training as well as normal ones and need no logarithm for each of 10⁸ weights.
void FillUniform(Rng rng, double deviation, std::span<float> values) {
  const double bound = std::sqrt(3.0) * deviation;
  for (float& value : values) value = static_cast<float>(Uniform(rng, -bound, bound));
}

}  // namespace

void InitialiseWeights(const Model& model, std::uint64_t seed, std::span<float> parameters,
                       std::span<float> statistics) {
  TRIBUTARY_CHECK(parameters.size() == model.parameters.size && statistics.size() == model.statistics.size);
  std::fill(parameters.begin(), parameters.end(), 0.0F);
  std::fill(statistics.begin(), statistics.end(), 0.0F);
  for (std::size_t i = 0; i < model.parameters.slots.size(); ++i) {
    const Layout::Slot& slot = model.parameters.slots[i];
    if (slot.tensor.role != NodeTensor::Role::kWeight) continue;
    const std::span<float> values = parameters.subspan(slot.segment.offset, slot.segment.count);
    if (slot.tensor.shape.size() == 1) {
      std::fill(values.begin(), values.end(), 1.0F);
    } else {
      FillUniform(Rng::ForStream(seed, DeviceId{0}, "weights", i), WeightDeviation(model.graph, slot.node),
                  values);
    }
  }
  for (const Layout::Slot& slot : model.statistics.slots) {
    if (slot.tensor.role != NodeTensor::Role::kRunningVariance) continue;
    const std::span<float> values = statistics.subspan(slot.segment.offset, slot.segment.count);
    std::fill(values.begin(), values.end(), 1.0F);
  }
}

}  // namespace tributary::inline model
