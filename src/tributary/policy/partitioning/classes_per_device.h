#pragma once

#include "tributary/base/status.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// Each device has samples of exactly `per_device` classes (so none is empty). Classes are given out by
// AssignClasses, and the samples of a class are divided evenly among its holders. Refused where AssignClasses
// refuses.
StatusOr<Partition> SplitClassesPerDevice(const SamplesByClass& classes, std::size_t devices,
                                          std::size_t per_device, Rng& rng);

}  // namespace tributary
