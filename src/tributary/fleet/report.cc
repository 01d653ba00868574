#include "tributary/fleet/report.h"

namespace tributary::inline fleet {

void EstimateStatistics(const Model& model, const Moments& moments, std::span<float> statistics) {
  // The slots of a norm are adjacent: mean, then variance.
  const auto& slots = model.statistics.slots;
  for (std::size_t s = 0; s + 1 < slots.size(); s += 2) {
    for (std::size_t i = 0; i < slots[s].segment.count; ++i) {
      const std::size_t mean_at = slots[s].segment.offset + i;
      const std::size_t variance_at = slots[s + 1].segment.offset + i;
      const double count = moments.counts[mean_at];
      if (count < 2) continue;
      const double mean = moments.sums[mean_at] / count;
      const double variance = std::max(0.0, moments.sums[variance_at] / count - mean * mean);
      statistics[mean_at] = static_cast<float>(mean);
      statistics[variance_at] = static_cast<float>(variance * count / (count - 1));
    }
  }
}

}  // namespace tributary::inline fleet
