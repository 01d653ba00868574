#include "median_rule.h"

#include <algorithm>
#include <vector>

namespace {

void Median(std::span<const std::span<float>> updates, std::span<float> out) {
  std::vector<float> column(updates.size());
  for (std::size_t i = 0; i < out.size(); ++i) {
    for (std::size_t device = 0; device < updates.size(); ++device) column[device] = updates[device][i];
    std::sort(column.begin(), column.end());
    const std::size_t middle = column.size() / 2;
    out[i] = column.size() % 2 == 1 ? column[middle] : (column[middle - 1] + column[middle]) / 2;
  }
}

}  // namespace

tributary::AggregationRule MedianRule() {
  using namespace tributary;
  return {.name = "my-median",
          .about = "coordinate-wise median",
          .make = [](const AggregationScene& scene) -> StatusOr<std::unique_ptr<Aggregator>> {
            return MakeStoredAggregator(
                scene, [](auto updates, auto /*weights*/, auto out) { Median(updates, out); });
          }};
}
