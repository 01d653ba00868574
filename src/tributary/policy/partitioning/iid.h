#pragma once

#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// Every device gets a uniformly random part of the data, whatever the labels. Sizes differ by at most one, so
// no device is empty while there are at least as many samples as devices.
Partition SplitIid(std::size_t samples, std::size_t devices, Rng& rng);

}  // namespace tributary
