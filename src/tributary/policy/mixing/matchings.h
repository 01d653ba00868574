#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tributary/policy/mixing/topology.h"

namespace tributary::inline policy {

// Edges of which no two share a node, ascending: pairs that can exchange concurrently.
using Matching = std::vector<Edge>;

// Partitions a graph's edges into non-empty matchings: at most (largest degree + 1) of them (Misra and
// Gries), and at most the largest degree if the graph is bipartite.
//
// Needs memory O(nodes · largest degree) and time O(edges · max(nodes, largest degree)).
std::vector<Matching> Matchings(const Topology& topology);

struct ConnectivityOptimum {
  std::vector<double> probabilities;  // per matching
  double bound = 0;                   // upper bound on the connectivity, proven up to rounding
};

// Probabilities in [0, 1], with a sum of at most budget · (number of matchings), that maximise, within 1e-5,
// the connectivity: the second smallest eigenvalue of the Laplacian with edges weighted by probability.
//
// A barrier method on the semidefinite programme: maximise t such that the weighted Laplacian minus t is
// positive on vectors that sum to zero. Every step also gives a dual bound, and the two meet. It converges to
// a central solution, so symmetric matchings get equal probabilities. The same bits on every machine.
//
// The graph must be connected, with an edge; budget in (0, 1]. Takes tens of steps of O(nodes³ + edges²).
ConnectivityOptimum MaximiseConnectivity(std::span<const Matching> matchings, std::size_t nodes,
                                         double budget);

}  // namespace tributary::inline policy
