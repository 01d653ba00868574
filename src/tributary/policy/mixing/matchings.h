#pragma once

#include <vector>

#include "tributary/policy/mixing/topology.h"

namespace tributary::inline policy {

// Edges no two of which share a node, ascending: pairs that can all exchange at once.
using Matching = std::vector<Edge>;

// Divides a graph's edges into matchings, every edge in exactly one: at most one more than the largest number of
// neighbours (after Misra and Gries), and no more than that number where the graph has no odd circle. None is empty.
//
// Takes memory for nodes times neighbours of the node that has most, and time for edges times the larger of both.
std::vector<Matching> Matchings(const Topology& topology);

}  // namespace tributary::inline policy
