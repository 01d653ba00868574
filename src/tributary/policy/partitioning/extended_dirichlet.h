#pragma once

#include "tributary/base/status.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// Skew in which classes and in how much of each: a device has samples of exactly `per_device` classes, given
// out by AssignClasses, and every class is divided among its holders by one draw from a symmetric Dirichlet
// distribution with concentration `alpha`.
//
// Every holder gets one sample of the class before the rest is divided by the drawn shares, so that the
// number of classes is exact and no device is empty however small alpha is. Refused where AssignClasses
// refuses.
StatusOr<Partition> SplitExtendedDirichlet(const SamplesByClass& classes, std::size_t devices,
                                           std::size_t per_device, double alpha, Rng& rng);

}  // namespace tributary
