#pragma once

#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/fleet/profile.h"

namespace tributary::inline experiment {

// The devices of an experiment, numbered from 0 in the order of its groups. A device depends only on the
// experiment, the seed, its number and its index in the group: a group added at the end changes no other
// device. Fails only if a distribution yields no allowed value (draw.h).
StatusOr<std::vector<DeviceProfile>> BuildFleet(const Experiment& experiment);

}  // namespace tributary::inline experiment
