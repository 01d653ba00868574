#include "tributary/policy/partitioning/shards.h"

#include "tributary/base/distributions.h"

namespace tributary {

Partition SplitShards(const SamplesByClass& classes, std::size_t devices, std::size_t per_device, Rng& rng) {
  std::vector<std::uint32_t> sorted;
  for (const auto& samples : classes) sorted.insert(sorted.end(), samples.begin(), samples.end());

  const std::size_t shards = devices * per_device;
  std::vector<std::size_t> owners(shards);
  for (std::size_t i = 0; i < shards; ++i) owners[i] = i / per_device;
  Shuffle(rng, std::span(owners));

  const std::vector<std::size_t> sizes = DivideEvenly(sorted.size(), shards);
  Partition partition(devices);
  auto next = sorted.begin();
  for (std::size_t i = 0; i < shards; ++i) {
    const auto end = next + static_cast<std::ptrdiff_t>(sizes[i]);
    partition[owners[i]].insert(partition[owners[i]].end(), next, end);
    next = end;
  }
  SortIndices(partition);
  return partition;
}

}  // namespace tributary
