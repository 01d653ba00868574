#pragma once

#include <cstddef>
#include <span>
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

struct ConnectivityOptimum {
  std::vector<double> probabilities;  // One for each matching.
  double bound = 0;                   // No choice of them has a greater connectivity. Proven, up to rounding.
};

// The probabilities, between 0 and 1 and at most budget · (number of matchings) in all, with the greatest
// connectivity: the second smallest eigenvalue of the graph whose edges weigh as much as their matching is probable.
// To within 1e-5 of it.
//
// A barrier method on the semidefinite programme: the connectivity is the largest t for which the weighted Laplacian
// less t is positive on what sums to zero. Every step also gives a bound by duality, and the two meet. Of choices
// that are equally good it comes to one in the middle, so matchings that a symmetry swaps get the same. The same on
// every machine.
//
// The matchings make up a connected graph, at least one of them; budget is above 0 and at most 1. Takes some tens of
// steps of nodes³ + edges² operations each.
ConnectivityOptimum MaximiseConnectivity(std::span<const Matching> matchings, std::size_t nodes,
                                         double budget);

}  // namespace tributary::inline policy
