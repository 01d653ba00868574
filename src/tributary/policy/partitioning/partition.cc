#include "tributary/policy/partitioning/partition.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <string>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"

namespace tributary {

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

std::vector<std::size_t> DivideByShares(std::size_t total, std::span<const double> shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  TRIBUTARY_CHECK(sum > 0);
  std::vector<std::size_t> counts(shares.size());
  std::vector<double> remainders(shares.size());
  std::size_t placed = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double exact = static_cast<double>(total) * (shares[i] / sum);
    // Rounding of the quotients could carry the floors past the total by one; the last parts then get less.
    counts[i] = std::min(static_cast<std::size_t>(std::floor(exact)), total - placed);
    remainders[i] = exact - static_cast<double>(counts[i]);
    placed += counts[i];
  }
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; placed < total; i = (i + 1) % order.size(), ++placed) ++counts[order[i]];
  return counts;
}

std::vector<std::size_t> DivideEvenly(std::size_t total, std::size_t parts) {
  TRIBUTARY_CHECK(parts > 0);
  std::vector<std::size_t> counts(parts, total / parts);
  for (std::size_t i = 0; i < total % parts; ++i) ++counts[i];
  return counts;
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

}  // namespace tributary
