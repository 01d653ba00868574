#include "tributary/policy/partitioning/stratified.h"

#include <numeric>

#include "tributary/policy/partitioning/quotas.h"

namespace tributary {

Partition SplitStratified(const SamplesByClass& classes, std::span<const double> speeds, Rng& rng) {
  std::vector<std::size_t> sizes, holders(speeds.size());
  for (const auto& samples : classes) sizes.push_back(samples.size());
  std::iota(holders.begin(), holders.end(), std::size_t{0});
  const auto quotas = SpeedQuotas(sizes, speeds);
  Partition partition(speeds.size());
  for (std::size_t c = 0; c < classes.size(); ++c) Deal(classes[c], quotas[c], holders, rng, partition);
  SortIndices(partition);
  return partition;
}

}  // namespace tributary
