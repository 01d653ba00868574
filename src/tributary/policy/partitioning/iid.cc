#include "tributary/policy/partitioning/iid.h"

#include <numeric>

namespace tributary {

Partition SplitIid(std::size_t samples, std::size_t devices, Rng& rng) {
  std::vector<std::uint32_t> all(samples);
  std::iota(all.begin(), all.end(), 0U);
  std::vector<std::size_t> holders(devices);
  std::iota(holders.begin(), holders.end(), std::size_t{0});
  Partition partition(devices);
  Deal(all, DivideEvenly(samples, devices), holders, rng, partition);
  SortIndices(partition);
  return partition;
}

}  // namespace tributary
