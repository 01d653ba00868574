#include "tributary/data/batches.h"

#include <algorithm>
#include <numeric>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"

namespace tributary::inline data {
namespace {

void Mirror(std::span<float> sample, std::size_t width) {
  for (std::size_t row = 0; row < sample.size(); row += width)
    std::ranges::reverse(sample.subspan(row, width));
}

// The pixel at (y, x) becomes the former pixel at (y + down, x + right), or zero if that is outside.
void Move(std::span<float> plane, std::ptrdiff_t height, std::ptrdiff_t width, std::ptrdiff_t down,
          std::ptrdiff_t right) {
  for (std::ptrdiff_t i = 0; i < height; ++i) {
    // In the order in which no row is overwritten before it is read.
    const std::ptrdiff_t y = down >= 0 ? i : height - 1 - i;
    const auto row = plane.begin() + y * width;
    if (y + down < 0 || y + down >= height || std::abs(right) >= width) {
      std::fill_n(row, width, 0.0F);
      continue;
    }
    const auto source = plane.begin() + (y + down) * width;
    if (right >= 0) {
      std::copy(source + right, source + width, row);
      std::fill(row + (width - right), row + width, 0.0F);
    } else {
      std::copy_backward(source, source + (width + right), row + width);
      std::fill(row, row - right, 0.0F);
    }
  }
}

}  // namespace

void Augment(const AugmentOptions& options, const Shape& shape, Rng& rng, std::span<float> sample) {
  TRIBUTARY_CHECK(options.padding >= 0 && sample.size() == static_cast<std::size_t>(shape.elements()));
  if (options.flip && rng.Below(2) == 1) Mirror(sample, static_cast<std::size_t>(shape.width));
  if (options.padding == 0) return;
  const auto offsets = 2 * static_cast<std::uint64_t>(options.padding) + 1;
  const auto down = static_cast<std::ptrdiff_t>(rng.Below(offsets)) - options.padding;
  const auto right = static_cast<std::ptrdiff_t>(rng.Below(offsets)) - options.padding;
  const auto plane = static_cast<std::size_t>(shape.height * shape.width);
  for (std::size_t at = 0; at < sample.size(); at += plane)
    Move(sample.subspan(at, plane), shape.height, shape.width, down, right);
}

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

}  // namespace tributary::inline data
