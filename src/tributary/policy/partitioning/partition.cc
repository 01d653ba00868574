#include "tributary/policy/partitioning/partition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"

namespace tributary::inline policy {

Status CheckLabels(std::span<const std::int32_t> labels, int classes) {
  if (labels.empty()) return InvalidArgument("there are no samples to divide");
  if (labels.size() > std::numeric_limits<std::uint32_t>::max()) {
    return InvalidArgument("found " + std::to_string(labels.size()) +
                           " samples; at most 4294967295 can be divided");
  }
  if (classes < 1) {
    return InvalidArgument("the number of classes must be at least 1, found " + std::to_string(classes));
  }
  for (std::size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] >= 0 && labels[i] < classes) continue;
    return InvalidArgument("sample " + std::to_string(i) + " has label " + std::to_string(labels[i]) +
                           "; labels lie in 0 to " + std::to_string(classes - 1));
  }
  return OkStatus();
}

SamplesByClass GroupByClass(std::span<const std::int32_t> labels, int classes) {
  SamplesByClass groups(static_cast<std::size_t>(classes));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    TRIBUTARY_CHECK(labels[i] >= 0 && labels[i] < classes);
    groups[static_cast<std::size_t>(labels[i])].push_back(static_cast<std::uint32_t>(i));
  }
  return groups;
}

void Deal(std::span<const std::uint32_t> samples, std::span<const std::size_t> counts,
          std::span<const std::size_t> holders, Rng& rng, Partition& partition) {
  TRIBUTARY_CHECK(counts.size() == holders.size());
  std::vector<std::uint32_t> shuffled(samples.begin(), samples.end());
  Shuffle(rng, std::span(shuffled));
  auto next = shuffled.begin();
  for (std::size_t i = 0; i < holders.size(); ++i) {
    TRIBUTARY_CHECK(counts[i] <= static_cast<std::size_t>(shuffled.end() - next));
    const auto end = next + static_cast<std::ptrdiff_t>(counts[i]);
    auto& device = partition[holders[i]];
    device.insert(device.end(), next, end);
    next = end;
  }
  TRIBUTARY_CHECK(next == shuffled.end());
}

void SortIndices(Partition& partition) {
  for (auto& device : partition) std::sort(device.begin(), device.end());
}

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

}  // namespace tributary::inline policy
