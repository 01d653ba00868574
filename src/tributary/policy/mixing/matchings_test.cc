#include "tributary/policy/mixing/matchings.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "tributary/policy/mixing/testing_graphs.h"

namespace tributary::inline policy {
namespace {

// Every edge once, no node twice in a matching. How many there are.
std::size_t CheckedMatchings(const Topology& graph) {
  std::vector<Edge> all;
  const auto matchings = Matchings(graph);
  for (const Matching& matching : matchings) {
    EXPECT_FALSE(matching.empty());
    EXPECT_TRUE(std::ranges::is_sorted(matching));
    std::set<std::uint32_t> ends;
    for (const auto& [a, b] : matching) EXPECT_TRUE(ends.insert(a).second && ends.insert(b).second);
    all.insert(all.end(), matching.begin(), matching.end());
  }
  std::ranges::sort(all);
  EXPECT_EQ(all, graph.edges);
  return matchings.size();
}

std::size_t MostNeighbours(const Topology& graph) { return std::ranges::max(Degrees(graph)); }

TEST(Matchings, AreOneMoreThanTheMostNeighboursAtMost) {
  Rng rng(5);
  int with_one_more = 0;
  for (int i = 0; i < 1500; ++i) {
    const Topology graph = AnyGraph(rng, 2 + i % 30, 0.05 + 0.9 * rng.Uniform());
    if (graph.edges.empty()) continue;
    const std::size_t count = CheckedMatchings(graph);
    EXPECT_GE(count, MostNeighbours(graph));
    EXPECT_LE(count, MostNeighbours(graph) + 1);
    if (count > MostNeighbours(graph)) ++with_one_more;
  }
  EXPECT_GT(with_one_more, 50);  // The harder way is taken, too.
  // An odd number of nodes, all joined, needs one more: (n − 1)/2 edges at most are in a matching.
  for (const std::size_t nodes : {3U, 9U, 31U}) {
    EXPECT_EQ(CheckedMatchings(Graph(TopologyKind::kComplete, nodes)), nodes);
  }
  EXPECT_EQ(CheckedMatchings(Graph(TopologyKind::kRing, 7)), 3U);
}

TEST(Matchings, AreNoMoreThanTheMostNeighboursWithoutOddCircles) {
  EXPECT_EQ(CheckedMatchings(Graph(TopologyKind::kRing, 8)), 2U);
  EXPECT_EQ(CheckedMatchings(Graph(TopologyKind::kRing, 500)), 2U);
  EXPECT_EQ(CheckedMatchings(Graph(TopologyKind::kTorus, 16)), 4U);
  EXPECT_EQ(CheckedMatchings(Graph(TopologyKind::kHypercube, 64)), 6U);
  Rng rng(6);
  for (int i = 0; i < 400; ++i) {
    Topology graph = AnyGraph(rng, 2 + i % 30, 0.05 + 0.9 * rng.Uniform());
    std::erase_if(graph.edges, [&](const Edge& edge) { return edge.first % 2 == edge.second % 2; });
    if (graph.edges.empty()) continue;
    EXPECT_EQ(CheckedMatchings(graph), MostNeighbours(graph));
  }
}

TEST(Matchings, OfNoEdgesAreNone) { EXPECT_TRUE(Matchings(Topology{3, {}}).empty()); }

}  // namespace
}  // namespace tributary::inline policy
