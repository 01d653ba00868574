#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

// Two nodes that exchange models. Nodes are numbered from 0.
using Edge = std::pair<std::uint32_t, std::uint32_t>;

inline constexpr std::size_t kMostTopologyNodes = 10'000;
inline constexpr std::size_t kMostTopologyEdges = 1'000'000;

enum class TopologyKind {
  kRing,
  kTorus,  // as nearly square as the number of nodes allows
  kComplete,
  kErdosRenyi,  // every edge with the same probability
  kHypercube,   // edges between nodes whose numbers differ in one bit
  kEdges,       // given edges
};
inline constexpr TopologyKind kTopologyKinds[] = {TopologyKind::kRing,      TopologyKind::kTorus,
                                                  TopologyKind::kComplete,  TopologyKind::kErdosRenyi,
                                                  TopologyKind::kHypercube, TopologyKind::kEdges};
constexpr std::string_view NameOf(TopologyKind kind) {
  constexpr std::string_view kNames[] = {"ring", "torus", "complete", "erdos-renyi", "hypercube", "edges"};
  return kNames[static_cast<std::size_t>(kind)];
}

// The communication graph. Fields that a kind does not use are ignored.
struct TopologyOptions {
  TopologyKind kind = TopologyKind::kRing;
  // erdos-renyi: probability of every edge, in (0, 1]. A denser graph converges faster and sends more.
  double probability = 0.5;
  // edges: in any order and direction; duplicates count once.
  std::vector<Edge> edges;
  friend bool operator==(const TopologyOptions&, const TopologyOptions&) = default;
};

struct Topology {
  std::size_t nodes = 0;
  std::vector<Edge> edges;  // sorted and unique, the smaller node of each first
  friend bool operator==(const Topology&, const Topology&) = default;
};

// A connected graph of this many nodes. Only erdos-renyi uses the seed: it is redrawn, up to 100 times, until
// it is connected. One node has no edges.
//
// Refuses: no nodes or more than kMostTopologyNodes; more than kMostTopologyEdges edges; a hypercube whose
// number of nodes is not a power of two; a torus of a prime number of nodes, which would be a ring; given
// edges that name unknown nodes, join a node to itself, or leave a node unreachable. In a torus of 2 × b
// nodes the two ways around coincide, so nodes have three neighbours (two in 2 × 2).
StatusOr<Topology> MakeTopology(const TopologyOptions& options, std::size_t nodes, std::uint64_t seed);

// The number of neighbours of each node.
std::vector<std::size_t> Degrees(const Topology& topology);

// Node 0 and a node that it cannot reach, or nothing if the graph is connected.
std::optional<Edge> FindUnreachable(const Topology& topology);

// The Laplacian L of a graph: (L·x)[i] = Σ over neighbours j of (x[i] − x[j]).

// out += weight · L · x
inline void AddLaplacian(std::span<const Edge> edges, double weight, std::span<const double> x,
                         std::span<double> out) {
  for (const auto& [a, b] : edges) {
    const double flow = weight * (x[a] - x[b]);
    out[a] += flow;
    out[b] -= flow;
  }
}

// matrix += weight · L, row-major
inline void AddLaplacian(std::span<const Edge> edges, double weight, std::span<double> matrix,
                         std::size_t nodes) {
  for (const auto& [a, b] : edges) {
    matrix[a * nodes + a] += weight;
    matrix[b * nodes + b] += weight;
    matrix[a * nodes + b] -= weight;
    matrix[b * nodes + a] -= weight;
  }
}

// Reads a graph: one edge per line, two node numbers from 0, separated by blanks. A # starts a comment; empty
// lines are ignored; lines may end in \r\n. Edges are returned unchanged, in order.
//
// For any bytes, returns edges or an error that begins with the line: "line 17: …". Nodes are below
// kMostTopologyNodes; at most kMostTopologyEdges edges, without loops. Does not check connectivity.
StatusOr<std::vector<Edge>> ParseEdgeList(std::string_view text);

// The weight of a neighbour's model in a node's new model.
struct Neighbour {
  std::uint32_t node = 0;
  double weight = 0;
  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

// Metropolis-Hastings weights: an edge has weight 1 / (1 + the larger degree of its ends). Row i holds the
// neighbours of node i, ascending; the rest, SelfWeight, is the node's own. The matrix is symmetric, doubly
// stochastic and non-negative, so the mean is preserved and models on a connected graph converge to it.
std::vector<std::vector<Neighbour>> MetropolisWeights(const Topology& topology);

// The weight of a node's own model: 1 minus the weights of its row. An absent neighbour is left out of the
// row, which adds its weight here. The mean is preserved only if both ends of an edge leave it out.
double SelfWeight(std::span<const Neighbour> row);

}  // namespace tributary::inline policy
