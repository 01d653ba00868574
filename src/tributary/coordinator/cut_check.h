#pragma once

#include <span>

#include "tributary/device/split_network.h"
#include "tributary/fleet/cut_server.h"

namespace tributary {

bool Finite(std::span<const float> values);

// Refuses, in words, what a device may not send over the cut for so many samples in a round of so many crossings.
Status CheckCutBatch(const SplitNetwork& network, DeviceId device, std::size_t samples, int crossings,
                     const CutBatch& batch);

// What a device sends comes to nothing that can be learnt from.
Status UnsoundCut(DeviceId device);

}  // namespace tributary
