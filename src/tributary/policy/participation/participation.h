#pragma once

#include <cstdint>
#include <vector>

#include "tributary/base/ids.h"

namespace tributary::inline policy {

// Chooses the participants of a round: `count` of `devices` (all if there are fewer), every set equally
// likely, keyed by (seed, round). In ascending order.
std::vector<DeviceId> ChooseParticipants(const std::vector<DeviceId>& devices, std::size_t count,
                                         std::uint64_t seed, RoundId round);

}  // namespace tributary::inline policy
