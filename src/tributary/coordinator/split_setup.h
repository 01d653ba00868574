#pragma once

#include <memory>

#include "tributary/coordinator/split.h"
#include "tributary/device/split_network.h"

namespace tributary {

// The coordinator's part of a cut network, as the experiment's variant trains it.
std::unique_ptr<SplitHalf> MakeSplitHalf(const Experiment& experiment, const SplitNetwork& network);

// What a coordinator needs to know of a cut network and its own part of it.
SplitSetup SetupOf(const Experiment& experiment, const SplitNetwork& network, SplitHalf& half);

}  // namespace tributary
