#include "tributary/policy/partitioning/class_counts.h"

#include <cmath>
#include <numeric>

namespace tributary {

std::vector<std::vector<std::int64_t>> CountClasses(const Partition& partition,
                                                    std::span<const std::int32_t> labels, int classes) {
  std::vector<std::vector<std::int64_t>> counts(
      partition.size(), std::vector<std::int64_t>(static_cast<std::size_t>(classes), 0));
  for (std::size_t device = 0; device < partition.size(); ++device) {
    for (const std::uint32_t sample : partition[device])
      ++counts[device][static_cast<std::size_t>(labels[sample])];
  }
  return counts;
}

double MeanSkew(const std::vector<std::vector<std::int64_t>>& counts) {
  if (counts.empty()) return 0;
  std::vector<double> all(counts.front().size(), 0);
  for (const auto& device : counts) {
    for (std::size_t c = 0; c < device.size(); ++c) all[c] += static_cast<double>(device[c]);
  }
  const double total = std::accumulate(all.begin(), all.end(), 0.0);
  double sum = 0;
  int devices = 0;
  for (const auto& device : counts) {
    const auto samples = static_cast<double>(std::accumulate(device.begin(), device.end(), std::int64_t{0}));
    if (samples == 0) continue;
    ++devices;
    for (std::size_t c = 0; c < device.size(); ++c) {
      sum += std::abs(static_cast<double>(device[c]) / samples - all[c] / total);
    }
  }
  return devices > 0 ? sum / devices : 0;
}

}  // namespace tributary
