#pragma once

#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/profile.h"

namespace tributary::inline experiment {

// The devices of an experiment, numbered from 0 through its groups in their order. What a device is depends on
// (experiment, seed, its number, its place in the group) alone: adding a group at the end changes no other device.
// Fails only on a distribution that never gives an allowed value (draw.h).
StatusOr<std::vector<DeviceProfile>> BuildFleet(const Experiment& experiment);

}  // namespace tributary::inline experiment
