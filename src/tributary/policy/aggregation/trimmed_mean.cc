#include <algorithm>
#include <cmath>

#include "tributary/policy/aggregation/aggregation.h"

namespace tributary::inline policy {
namespace {

// The smaller of two rows goes to the first, element by element.
void Order(std::span<float> first, std::span<float> second) {
  float* __restrict a = first.data();
  float* __restrict b = second.data();
  for (std::size_t i = 0; i < first.size(); ++i) {
    const float low = b[i] < a[i] ? b[i] : a[i];
    const float high = b[i] < a[i] ? a[i] : b[i];
    a[i] = low;
    b[i] = high;
  }
}

void TrimmedMean(double trim, std::span<const std::span<float>> rows, std::span<float> out) {
  const std::size_t n = rows.size();
  // A fleet too small for a whole one still loses one at each end; a tenth of 30 is 3, although 0.1 · 30 is above it.
  const auto share = static_cast<std::size_t>(std::ceil(trim * static_cast<double>(n) * (1 - 1e-12)));
  const std::size_t cut = std::min(share, (n - 1) / 2);
  // The smallest of those that are left sink to the front and the largest rise to the back, whole rows at a time.
  for (std::size_t done = 0; done < cut; ++done) {
    for (std::size_t i = n - done - 1; i > done; --i) Order(rows[i - 1], rows[i]);
    for (std::size_t i = done + 1; i + 1 < n - done; ++i) Order(rows[i], rows[i + 1]);
  }
  const auto kept = rows.subspan(cut, n - 2 * cut);
  for (std::size_t i = 0; i < out.size(); ++i) {
    double sum = 0;
    for (const std::span<float> row : kept) sum += static_cast<double>(row[i]);
    out[i] = static_cast<float>(sum / static_cast<double>(kept.size()));
  }
}

}  // namespace

// The coordinate-wise trimmed mean (Yin et al., 2018): of each element the largest and the smallest values are left out, a
// share `trim` of the updates at each end, rounded up; the mean is over the rest. Updates count alike, whatever they weigh:
// a device could otherwise buy its way in with samples that it does not have.
AggregationRule TrimmedMeanRule() {
  return {.name = "trimmed-mean",
          .about = "coordinate-wise trimmed mean",
          .make = [](const AggregationScene& scene) -> StatusOr<std::unique_ptr<Aggregator>> {
            return MakeStoredAggregator(scene, [trim = scene.numbers[0]](auto rows, auto, auto out) {
              TrimmedMean(trim, rows, out);
            });
          },
          .numbers = {{.key = "trim",
                       .about = "Share of the updates left out at each end, rounded up.",
                       .usual = 0.1,
                       .low = 0,
                       .high = 0.5}}};
}

}  // namespace tributary::inline policy
