#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/model/channel_groups.h"

namespace tributary {

// Channels are kept in multiples of this many: processors work on as many at once, and a convolution over 12 channels takes
// almost as long as one over 16.
inline constexpr std::int64_t kFilterLanes = 8;

// How many atoms of each group remain at these dropout rates, one per group, each at least 0 and below 1. As many channels as
// the rate leaves, to the nearest multiple of `lanes`; at least one such multiple, and all where a group has no more.
// 1 lane rounds to whole atoms only.
std::vector<std::int64_t> KeptCounts(const ChannelGroups& groups, std::span<const double> rates,
                                     std::int64_t lanes = kFilterLanes);

// The rates at which just so many remain.
std::vector<double> RatesOf(const ChannelGroups& groups, std::span<const std::int64_t> kept);

}  // namespace tributary
