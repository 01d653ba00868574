#pragma once

#include <cstdint>
#include <span>

#include "tributary/base/rng.h"
#include "tributary/model/channel_groups.h"

namespace tributary {

// Which atoms of each group are kept, where it has been decided how many (kept_counts.h).

// Any, all sets of that size alike: Federated Dropout and DISTREAL.
KeptAtoms RandomAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts, Rng& rng);

// The first ones, so that a smaller choice is part of every larger one: HeteroFL and FjORD.
KeptAtoms FirstAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts);

// Those from the `shift`-th on, and again from the first where there are no more: FedRolex, which shifts by one each round.
KeptAtoms RollingAtoms(const ChannelGroups& groups, std::span<const std::int64_t> counts,
                       std::uint64_t shift);

}  // namespace tributary
