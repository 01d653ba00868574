#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/aggregation/rows.h"

namespace tributary::inline policy {
namespace {

void TrimmedMean(double trim, std::span<const std::span<float>> rows, std::span<float> out) {
  const std::size_t n = rows.size();
  const std::size_t cut = ShareOf(trim, n);
  // The smallest of those that are left sink to the front and the largest rise to the back, whole rows at a time.
  for (std::size_t done = 0; done < cut; ++done) {
    for (std::size_t i = n - done - 1; i > done; --i) OrderRows(rows[i - 1], rows[i]);
    for (std::size_t i = done + 1; i + 1 < n - done; ++i) OrderRows(rows[i], rows[i + 1]);
  }
  MeanOfRows(rows.subspan(cut, n - 2 * cut), out);
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
