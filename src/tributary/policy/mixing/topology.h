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

// Two nodes of a graph that exchange models. Nodes are counted from 0.
using Edge = std::pair<std::uint32_t, std::uint32_t>;

inline constexpr std::size_t kMostTopologyNodes = 10'000;
inline constexpr std::size_t kMostTopologyEdges = 1'000'000;

enum class TopologyKind {
  kRing,        // each with the one before and the one after
  kTorus,       // a grid that is closed both ways, as nearly square as the number of nodes allows
  kComplete,    // everyone with everyone
  kErdosRenyi,  // every edge by chance
  kHypercube,   // nodes whose numbers differ in one bit
  kEdges,       // those that are given
};
inline constexpr TopologyKind kTopologyKinds[] = {TopologyKind::kRing,      TopologyKind::kTorus,
                                                  TopologyKind::kComplete,  TopologyKind::kErdosRenyi,
                                                  TopologyKind::kHypercube, TopologyKind::kEdges};
constexpr std::string_view NameOf(TopologyKind kind) {
  constexpr std::string_view kNames[] = {"ring", "torus", "complete", "erdos-renyi", "hypercube", "edges"};
  return kNames[static_cast<std::size_t>(kind)];
}

// Who exchanges with whom. Fields that a kind does not use are ignored.
struct TopologyOptions {
  TopologyKind kind = TopologyKind::kRing;
  // erdos-renyi: of every edge. More makes a denser graph, which agrees faster and sends more. Above 0, at most 1.
  double probability = 0.5;
  // edges: in any order and either direction; one that is given twice counts once.
  std::vector<Edge> edges;

  friend bool operator==(const TopologyOptions&, const TopologyOptions&) = default;
};

// What MakeTopology gives.
struct Topology {
  std::size_t nodes = 0;
  std::vector<Edge> edges;  // Sorted, the smaller node of each first, none twice.

  friend bool operator==(const Topology&, const Topology&) = default;
};

// A connected graph of this many nodes. The seed matters to erdos-renyi alone, which is drawn anew, up to 100 times,
// until it is connected. One node has no edges.
//
// Refused in words: no nodes or more than kMostTopologyNodes; more than kMostTopologyEdges edges; a hypercube whose
// nodes are no power of two; a torus of a prime number of nodes, which would be a ring; given edges that name nodes
// there are none of, join a node to itself, or leave a node unreachable. A torus of 2 × b nodes has one edge where
// its two ways around meet, so that its nodes have three neighbours (two in 2 × 2).
StatusOr<Topology> MakeTopology(const TopologyOptions& options, std::size_t nodes, std::uint64_t seed);

// How many neighbours each node has.
std::vector<std::size_t> Degrees(const Topology& topology);

// Two nodes that cannot reach each other, or nothing where all can. One of them is node 0.
std::optional<Edge> FindUnreachable(const Topology& topology);

// The Laplacian of a graph takes from each node's value those of its neighbours: (L·x)[i] = Σ over neighbours (x[i] −
// x[j]).

// out += weight · L · x.
inline void AddLaplacian(std::span<const Edge> edges, double weight, std::span<const double> x,
                         std::span<double> out) {
  for (const auto& [a, b] : edges) {
    const double flow = weight * (x[a] - x[b]);
    out[a] += flow;
    out[b] -= flow;
  }
}

// matrix += weight · L, row by row.
inline void AddLaplacian(std::span<const Edge> edges, double weight, std::span<double> matrix,
                         std::size_t nodes) {
  for (const auto& [a, b] : edges) {
    matrix[a * nodes + a] += weight;
    matrix[b * nodes + b] += weight;
    matrix[a * nodes + b] -= weight;
    matrix[b * nodes + a] -= weight;
  }
}

// Reads a graph: on each line the numbers of two nodes, counted from 0, with blanks between them. What follows a # is a
// comment; empty lines mean nothing; lines may end in \r\n. Edges are given back as they stand, in their order.
//
// Any bytes give edges or an error that begins with the line: "line 17: …". Nodes below kMostTopologyNodes, at most
// kMostTopologyEdges edges, none from a node to itself. Whether they make a connected graph, MakeTopology says.
StatusOr<std::vector<Edge>> ParseEdgeList(std::string_view text);

// What a node's new model takes from another's.
struct Neighbour {
  std::uint32_t node = 0;
  double weight = 0;

  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

// Mixing by Metropolis and Hastings: an edge weighs one over one more than the larger number of neighbours at its
// ends. Row i holds the neighbours of node i, ascending; the rest, SelfWeight, is its own. The matrix is symmetric,
// its rows and columns sum to one, and nothing in it is negative, so the mean of all models stays and, where the
// graph is connected, all come to it.
std::vector<std::vector<Neighbour>> MetropolisWeights(const Topology& topology);

// What a node keeps of its own: one less the weights of its row. A neighbour that is not there is left out of the
// row, which gives its weight to this. The mean stays only if both ends of an edge leave it out.
double SelfWeight(std::span<const Neighbour> row);

}  // namespace tributary::inline policy
