#include "tributary/policy/partitioning/dirichlet.h"

#include <numeric>

#include "tributary/base/distributions.h"

namespace tributary {

Partition SplitDirichlet(const SamplesByClass& classes, std::size_t devices, double alpha, Rng& rng) {
  const std::vector<double> concentrations(devices, alpha);
  std::vector<std::size_t> holders(devices);
  std::iota(holders.begin(), holders.end(), std::size_t{0});
  Partition partition(devices);
  for (const auto& samples : classes) {
    const std::vector<double> shares = Dirichlet(rng, concentrations);
    Deal(samples, DivideByShares(samples.size(), shares), holders, rng, partition);
  }
  SortIndices(partition);
  return partition;
}

}  // namespace tributary
