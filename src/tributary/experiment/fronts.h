#pragma once

#include <string>

#include "tributary/base/status.h"
#include "tributary/policy/dropout/front.h"

namespace tributary {

// The fronts that are built in (presets/fronts), by the network they are of. An unknown name is answered with the nearest.
StatusOr<ParetoFront> BuiltInFront(const std::string& network);

}  // namespace tributary
