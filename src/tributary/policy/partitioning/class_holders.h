#pragma once

#include "tributary/base/status.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// Which devices hold which classes, for the splits that give each device a fixed number of classes: for each
// class the devices that hold it, in random order.
//
// Every device is on exactly `per_device` lists, never twice on one. Only classes that have samples are given
// out, each to at least one device, and the numbers of their holders differ by at most one. Where that cannot
// be (too few classes with samples, too few places for all classes, fewer samples of a class than holders),
// the error says which.
StatusOr<std::vector<std::vector<std::size_t>>> AssignClasses(const SamplesByClass& classes,
                                                              std::size_t devices, std::size_t per_device,
                                                              Rng& rng);

}  // namespace tributary
