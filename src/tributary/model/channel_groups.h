#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tributary/model/graph.h"

namespace tributary::inline model {

// Which channels of a network live and die together, for thinning it by whole filters.
//
// Channels that an addition, a depthwise or grouped convolution or a group norm ties together form an *atom*: they are
// kept or dropped as one. Ties are found channel by channel, not tensor by tensor, so a concatenation ties nothing: it
// carries the atoms of its inputs at their offsets, and flatten repeats a channel's atom for each of its columns.
// Atoms that are made by the same layers form a *group*, the unit to which a dropout rate applies.
// Channels of the input image and the scores of the classes belong to no group: they are never dropped. Nor do the
// channels that enter or leave part of a network.
struct ChannelGroups {
  struct Group {
    std::string name;  // of the first layer that makes its channels; "#2" where one layer starts two groups
    std::int64_t channels = 0;  // of that layer, in this group
    std::int64_t atoms = 0;     // how many can be kept or dropped independently
  };

  // Where one channel belongs; group −1 for one that is never dropped.
  struct Channel {
    std::int32_t group = -1;
    std::int32_t atom = -1;
    friend bool operator==(const Channel&, const Channel&) = default;
  };

  std::vector<Group> groups;                  // in execution order of their first layer
  std::vector<std::vector<Channel>> of_node;  // per node, per channel (or column) of its output
};

// Nor those that nodes which are frozen give and read: their weights stay as they are.
ChannelGroups FindChannelGroups(const Graph& graph, const std::vector<bool>& frozen = {});

// Which atoms of each group a network keeps, ascending, at least one of each.
using KeptAtoms = std::vector<std::vector<std::int32_t>>;

// Everything.
KeptAtoms AllAtoms(const ChannelGroups& groups);

// The channels that remain of every node's output, ascending.
std::vector<std::vector<std::int32_t>> ChannelsThatRemain(const ChannelGroups& groups, const KeptAtoms& kept);

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

}  // namespace tributary::inline model
