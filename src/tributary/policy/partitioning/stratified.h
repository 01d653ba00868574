#pragma once

#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// Every worker gets its quota of each class (see quotas.h), chosen at random: shards in proportion to speed that are
// alike in labels, and in nothing else but by chance.
Partition SplitStratified(const SamplesByClass& classes, std::span<const double> speeds, Rng& rng);

}  // namespace tributary
