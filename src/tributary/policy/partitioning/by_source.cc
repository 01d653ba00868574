#include "tributary/policy/partitioning/by_source.h"

namespace tributary {

Partition SplitBySource(std::span<const std::uint32_t> sources, std::size_t devices) {
  Partition partition(devices);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    partition[sources[i] % devices].push_back(static_cast<std::uint32_t>(i));
  }
  return partition;
}

}  // namespace tributary
