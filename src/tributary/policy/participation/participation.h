#pragma once

#include <cstdint>
#include <vector>

#include "tributary/base/ids.h"

namespace tributary::inline policy {

// Which devices take part in a round: `count` of those given, every set equally likely, keyed by (seed, round). In
// ascending order. All of them if there are no more than `count`.
std::vector<DeviceId> ChooseParticipants(const std::vector<DeviceId>& devices, std::size_t count,
                                         std::uint64_t seed, RoundId round);

}  // namespace tributary::inline policy
