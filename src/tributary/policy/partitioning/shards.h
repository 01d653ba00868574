#pragma once

#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// The split of McMahan et al. (2017): samples sorted by label (within a label by index) are cut into
// devices · per_device contiguous shards whose sizes differ by at most one, and each device is dealt
// `per_device` of them at random. Most devices then see about `per_device` classes, a few one more per shard
// that crosses a border. No device is empty while there are at least as many samples as shards, which the
// caller has checked.
Partition SplitShards(const SamplesByClass& classes, std::size_t devices, std::size_t per_device, Rng& rng);

}  // namespace tributary
