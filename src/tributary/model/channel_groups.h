#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tributary/model/graph.h"

namespace tributary::inline model {

// Which channels of a network must be kept or dropped together, for thinning it by whole filters.
//
// Channels tied by an addition, a depthwise or grouped convolution or a group norm form an *atom*, which is
// kept or dropped as a whole. Ties connect channels, not tensors: a concatenation ties nothing but carries
// the atoms of its inputs at their offsets, and flatten repeats a channel's atom for each of its columns.
// Atoms made by the same layers form a *group*, the unit of a dropout rate. Channels of the input image,
// class scores, and channels that enter or leave part of a network belong to no group and are never dropped.
struct ChannelGroups {
  struct Group {
    std::string name;           // of the first layer that makes its channels; "#2" for its second group
    std::int64_t channels = 0;  // of that layer, in this group
    std::int64_t atoms = 0;     // number of independent units
  };

  // Group and atom of one channel; −1 for a channel that is never dropped.
  struct Channel {
    std::int32_t group = -1;
    std::int32_t atom = -1;
    friend bool operator==(const Channel&, const Channel&) = default;
  };

  std::vector<Group> groups;                  // in execution order of their first layer
  std::vector<std::vector<Channel>> of_node;  // per node, per channel (or column) of its output
};

// Channels that frozen nodes read or write are not dropped either: frozen weights stay as they are.
ChannelGroups FindChannelGroups(const Graph& graph, const std::vector<bool>& frozen = {});

// The kept atoms of each group, ascending, at least one per group.
using KeptAtoms = std::vector<std::vector<std::int32_t>>;

KeptAtoms AllAtoms(const ChannelGroups& groups);

// The remaining channels of every node's output, ascending.
std::vector<std::vector<std::int32_t>> ChannelsThatRemain(const ChannelGroups& groups, const KeptAtoms& kept);

// Channels are kept in multiples of this number, the width of a processor's vector unit: a convolution over
// 12 channels takes almost as long as one over 16.
inline constexpr std::int64_t kFilterLanes = 8;

// The number of atoms that remain in each group at these dropout rates (one per group, in [0, 1)): the
// remaining channels rounded to the nearest multiple of `lanes`, at least one multiple and at most the whole
// group. 1 lane rounds to whole atoms.
std::vector<std::int64_t> KeptCounts(const ChannelGroups& groups, std::span<const double> rates,
                                     std::int64_t lanes = kFilterLanes);

// The dropout rates at which these numbers of atoms remain.
std::vector<double> RatesOf(const ChannelGroups& groups, std::span<const std::int64_t> kept);

}  // namespace tributary::inline model
