#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "tributary/base/status.h"

namespace tributary {

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
std::string_view NameOf(TopologyKind kind);

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

}  // namespace tributary
