#include "tributary/data/batches.h"

#include <numeric>

#include "tributary/base/distributions.h"

namespace tributary {

std::vector<std::uint32_t> EpochOrder(std::size_t samples, std::uint64_t seed, DeviceId device,
                                      std::uint64_t epoch) {
  std::vector<std::uint32_t> order(samples);
  std::iota(order.begin(), order.end(), 0U);
  Rng rng = Rng::ForStream(seed, device, "shuffle", epoch);
  Shuffle(rng, std::span(order));
  return order;
}

void GatherBatch(const Dataset& dataset, std::span<const std::uint32_t> indices,
                 const AugmentOptions& augment, const BatchKey& key, Batch& out) {
  const auto elements = static_cast<std::size_t>(dataset.shape().elements());
  out.inputs.resize(indices.size() * elements);
  out.labels.resize(indices.size());
  Rng rng = Rng::ForStream(key.seed, key.device, "augment", key.step);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const std::span<float> sample = std::span(out.inputs).subspan(i * elements, elements);
    dataset.Read(indices[i], sample);
    Augment(augment, dataset.shape(), rng, sample);
    out.labels[i] = dataset.label(indices[i]);
  }
}

}  // namespace tributary
