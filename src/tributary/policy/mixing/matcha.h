#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/mixing/matchings.h"
#include "tributary/policy/mixing/topology.h"

namespace tributary::inline policy {

// Planning takes time that grows with the cube of the nodes and the square of the edges.
inline constexpr std::size_t kMostMatchaNodes = 500;
inline constexpr std::size_t kMostMatchaEdges = 20'000;

struct MatchaOptions {
  // The expected share of the matchings that are active at an exchange, which is the share of its time. Less sends
  // less and agrees more slowly. Above 0, at most 1; at 1 all edges are active always.
  double budget = 0.5;
};

// MATCHA (Wang, Sahu, Yang, Joshi, Kar, 2019): the graph in matchings, each of which is active at an exchange by
// chance, independently of the others and of other exchanges.
struct MatchaPlan {
  std::vector<Matching> matchings;
  std::vector<double> probabilities;  // Of each matching.
  double alpha = 0;                   // What an active edge weighs.
  // The norm of E[WᵀW] − J, where W is the mixing of an exchange and J takes the mean: by how much an exchange
  // shrinks the squared distance of the models from their mean, expected. Models come together if and only if it is
  // below 1.
  double spectral = 0;
  double connectivity = 0;  // The second smallest eigenvalue of the graph weighted by the probabilities.
  double connectivity_bound = 0;  // No probabilities within the budget give more.
};

// The probabilities that make the connectivity greatest within the budget (MaximiseConnectivity), to within 1e-5 of
// it, and the alpha that then makes the norm least. For one node everything is empty or 0.
//
// An edge's weight may leave a node less than nothing of its own: with alpha near 2 / (largest + smallest
// eigenvalue), a node with many neighbours takes more than one from them in all. What it does stays right: rows sum
// to one.
//
// Refuses a budget that is not above 0 and at most 1, a graph that is not connected, more than kMostMatchaNodes nodes
// or kMostMatchaEdges edges.
StatusOr<MatchaPlan> PlanMatcha(const Topology& topology, const MatchaOptions& options);

// The edges of the matchings that are active in this round, ascending: a function of (seed, round) alone.
std::vector<Edge> ActiveEdges(const MatchaPlan& plan, std::uint64_t seed, std::uint64_t round);

// The mixing with these edges active: every one weighs alpha. Rows as those of MetropolisWeights, with a diagonal
// that may be negative (see above).
std::vector<std::vector<Neighbour>> MatchaWeights(const MatchaPlan& plan, std::span<const Edge> active,
                                                  std::size_t nodes);

}  // namespace tributary::inline policy
