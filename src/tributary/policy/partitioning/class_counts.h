#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// How many samples of each class every device has: counts[device][class].
std::vector<std::vector<std::int64_t>> CountClasses(const Partition& partition,
                                                    std::span<const std::int32_t> labels, int classes);

// How unlike the whole the devices are: the L1 distance of a device's class shares to those of all samples, from 0
// (alike) to 2 (nothing in common), averaged over the devices that have samples.
double MeanSkew(const std::vector<std::vector<std::int64_t>>& counts);

}  // namespace tributary
