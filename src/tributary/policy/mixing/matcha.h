#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/mixing/matchings.h"
#include "tributary/policy/mixing/topology.h"

namespace tributary::inline policy {

// Planning time grows with nodes³ and edges².
inline constexpr std::size_t kMostMatchaNodes = 500;
inline constexpr std::size_t kMostMatchaEdges = 20'000;

struct MatchaOptions {
  // The expected fraction of matchings active at an exchange, and so of its time. A smaller budget sends less
  // and converges more slowly. Above 0, at most 1; 1 activates all edges always.
  double budget = 0.5;
};

// MATCHA (Wang, Sahu, Yang, Joshi, Kar, 2019): the graph is decomposed into matchings; at each exchange, each
// matching is active with its own probability, independently.
struct MatchaPlan {
  std::vector<Matching> matchings;
  std::vector<double> probabilities;  // per matching
  double alpha = 0;                   // weight of an active edge
  // The norm of E[WᵀW] − J, where W is the mixing matrix of an exchange and J averages: the expected factor
  // on the squared distance of the models from their mean. Models converge if and only if it is below 1.
  double spectral = 0;
  double connectivity = 0;        // second smallest eigenvalue of the Laplacian weighted by the probabilities
  double connectivity_bound = 0;  // upper bound for any probabilities within the budget
};

// Finds the probabilities that maximise the connectivity within the budget (MaximiseConnectivity), within
// 1e-5, and the alpha that then minimises the norm. For one node, everything is empty or 0.
//
// A node's own weight may be negative: with alpha near 2 / (largest + smallest eigenvalue), the weights of a
// node's neighbours may sum to more than one. Rows still sum to one.
//
// Refuses a budget outside (0, 1], a disconnected graph, and more than kMostMatchaNodes or kMostMatchaEdges.
StatusOr<MatchaPlan> PlanMatcha(const Topology& topology, const MatchaOptions& options);

// The edges of the matchings active in this round, ascending: a function of (seed, round) alone.
std::vector<Edge> ActiveEdges(const MatchaPlan& plan, std::uint64_t seed, std::uint64_t round);

// The mixing with these active edges, each of weight alpha. Rows as in MetropolisWeights, with a diagonal
// that may be negative (see above).
std::vector<std::vector<Neighbour>> MatchaWeights(const MatchaPlan& plan, std::span<const Edge> active,
                                                  std::size_t nodes);

}  // namespace tributary::inline policy
