#pragma once

#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// What came from one source (a person's phone, say) stays together: source i goes to device i modulo the number of
// devices. With as many devices as sources, each has its own. `sources[i]` is the source of sample i. A device whose
// sources have no samples is empty.
Partition SplitBySource(std::span<const std::uint32_t> sources, std::size_t devices);

}  // namespace tributary
