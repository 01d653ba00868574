#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/aggregation/rows.h"

namespace tributary::inline policy {

// The coordinate-wise median (Yin et al., 2018); of an even number of updates, the mean of the two in the middle. Weights do
// not count, as in the trimmed mean. An element that fewer than half of the devices sent, as with top-k, does not change.
AggregationRule MedianRule() {
  return {.name = "median",
          .about = "coordinate-wise median",
          .make = [](const AggregationScene& scene) -> StatusOr<std::unique_ptr<Aggregator>> {
            return MakeStoredAggregator(scene, [](auto rows, auto, auto out) { MedianOfRows(rows, out); });
          }};
}

}  // namespace tributary::inline policy
