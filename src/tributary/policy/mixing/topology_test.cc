#include "tributary/policy/mixing/topology.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <string>

#include "tributary/policy/mixing/testing_graphs.h"

namespace tributary::inline policy {
namespace {

bool IsSortedAndOnce(const Topology& graph) {
  for (std::size_t i = 0; i < graph.edges.size(); ++i) {
    if (graph.edges[i].first >= graph.edges[i].second || graph.edges[i].second >= graph.nodes) return false;
    if (i > 0 && !(graph.edges[i - 1] < graph.edges[i])) return false;
  }
  return true;
}

// By Warshall's closure.
std::vector<std::vector<bool>> Reachable(const Topology& graph) {
  std::vector<std::vector<bool>> reach(graph.nodes, std::vector<bool>(graph.nodes, false));
  for (std::size_t i = 0; i < graph.nodes; ++i) reach[i][i] = true;
  for (const auto& [a, b] : graph.edges) reach[a][b] = reach[b][a] = true;
  for (std::size_t k = 0; k < graph.nodes; ++k) {
    for (std::size_t i = 0; i < graph.nodes; ++i) {
      for (std::size_t j = 0; j < graph.nodes; ++j) {
        if (reach[i][k] && reach[k][j]) reach[i][j] = true;
      }
    }
  }
  return reach;
}

bool ReachesAll(const Topology& graph) {
  const auto reach = Reachable(graph);
  return std::ranges::all_of(reach, [](const auto& row) { return std::ranges::count(row, false) == 0; });
}

std::string Refusal(const TopologyOptions& options, std::size_t nodes) {
  const auto made = MakeTopology(options, nodes, 1);
  EXPECT_FALSE(made.ok());
  return made.ok() ? "" : made.status().message();
}

std::string Refusal(TopologyKind kind, std::size_t nodes) {
  TopologyOptions options;
  options.kind = kind;
  return Refusal(options, nodes);
}

TEST(Topology, OfOneNodeHasNoEdges) {
  for (const TopologyKind kind : kTopologyKinds) {
    EXPECT_EQ(Graph(kind, 1), (Topology{1, {}})) << NameOf(kind);
  }
}

TEST(Topology, RingJoinsEachWithTheNext) {
  EXPECT_EQ(Graph(TopologyKind::kRing, 2).edges, (std::vector<Edge>{{0, 1}}));
  EXPECT_EQ(Graph(TopologyKind::kRing, 5).edges, (std::vector<Edge>{{0, 1}, {0, 4}, {1, 2}, {2, 3}, {3, 4}}));
  const Topology ring = Graph(TopologyKind::kRing, 10'000);
  EXPECT_EQ(ring.edges.size(), 10'000U);
  EXPECT_EQ(std::ranges::count(Degrees(ring), 2U), 10'000);
}

TEST(Topology, TorusIsAsSquareAsItCanBe) {
  EXPECT_EQ(Graph(TopologyKind::kTorus, 4).edges, (std::vector<Edge>{{0, 1}, {0, 2}, {1, 3}, {2, 3}}));
  struct Case {
    std::size_t nodes, rows, columns;
  };
  for (const auto& [nodes, rows, columns] :
       {Case{6, 2, 3}, Case{9, 3, 3}, Case{12, 3, 4}, Case{16, 4, 4}, Case{14, 2, 7}, Case{30, 5, 6}}) {
    const Topology torus = Graph(TopologyKind::kTorus, nodes);
    EXPECT_TRUE(IsSortedAndOnce(torus) && ReachesAll(torus));
    // Neighbours are one step away, around the edge or not, in one of the two directions.
    std::vector<Edge> expected;
    for (std::uint32_t a = 0; a < nodes; ++a) {
      for (std::uint32_t b = a + 1; b < nodes; ++b) {
        const std::size_t down = b / columns - a / columns;
        const std::size_t right = (b % columns + columns - a % columns) % columns;
        const bool steps_down = right == 0 && (down == 1 || down == rows - 1);
        const bool steps_right = down == 0 && (right == 1 || right == columns - 1);
        if (steps_down || steps_right) expected.emplace_back(a, b);
      }
    }
    EXPECT_EQ(torus.edges, expected) << nodes;
    const std::size_t neighbours = (rows > 2 ? 2 : 1) + (columns > 2 ? 2 : 1);
    EXPECT_EQ(torus.edges.size(), nodes * neighbours / 2);
  }
}

TEST(Topology, CompleteJoinsAll) {
  for (const std::size_t nodes : {2U, 3U, 17U, 1414U}) {
    const Topology graph = Graph(TopologyKind::kComplete, nodes);
    EXPECT_EQ(graph.edges.size(), nodes * (nodes - 1) / 2);
    EXPECT_TRUE(IsSortedAndOnce(graph));
  }
}

TEST(Topology, HypercubeJoinsNumbersThatDifferInOneBit) {
  for (const std::size_t dimension : {1U, 2U, 5U, 10U}) {
    const Topology cube = Graph(TopologyKind::kHypercube, std::size_t{1} << dimension);
    EXPECT_EQ(cube.edges.size(), dimension << (dimension - 1));
    EXPECT_TRUE(IsSortedAndOnce(cube));
    EXPECT_EQ(FindUnreachable(cube), std::nullopt);
    for (const auto& [a, b] : cube.edges) EXPECT_EQ(std::popcount(a ^ b), 1);
  }
}

TEST(Topology, ErdosRenyiHasEveryEdgeEquallyOften) {
  // 4,000 graphs of 12 nodes with probability 0.7, nearly none of which is not connected: every pair within five
  // standard deviations.
  std::map<Edge, int> times;
  for (std::uint64_t seed = 0; seed < 4000; ++seed) {
    for (const Edge& edge : Graph(TopologyKind::kErdosRenyi, 12, 0.7, seed).edges) ++times[edge];
  }
  EXPECT_EQ(times.size(), 66U);
  for (const auto& [edge, count] : times) {
    EXPECT_NEAR(count, 2800, 5 * std::sqrt(4000 * 0.7 * 0.3)) << edge.first << " " << edge.second;
  }
}

TEST(Topology, ErdosRenyiIsDrawnUntilItIsConnected) {
  // A draw has 8 · 0.7⁷ = 0.66 nodes without neighbours on average, so that many are not connected at first.
  std::vector<Topology> drawn;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    drawn.push_back(Graph(TopologyKind::kErdosRenyi, 8, 0.3, seed));
    EXPECT_TRUE(IsSortedAndOnce(drawn.back()) && ReachesAll(drawn.back()));
    EXPECT_EQ(drawn.back(), Graph(TopologyKind::kErdosRenyi, 8, 0.3, seed));
  }
  EXPECT_NE(drawn[0], drawn[1]);
  EXPECT_EQ(Graph(TopologyKind::kErdosRenyi, 9, 1), Graph(TopologyKind::kComplete, 9));
  // A large one: 10,000 nodes, 0.002 of 49,995,000 pairs, within five standard deviations.
  const double expected = 0.002 * 49'995'000;
  EXPECT_NEAR(static_cast<double>(Graph(TopologyKind::kErdosRenyi, 10'000, 0.002).edges.size()), expected,
              5 * std::sqrt(expected));
}

TEST(Topology, GivenEdgesAreSortedAndCountOnce) {
  EXPECT_EQ(GraphOf(4, {{3, 1}, {0, 1}, {1, 0}, {2, 1}, {1, 2}}).edges,
            (std::vector<Edge>{{0, 1}, {1, 2}, {1, 3}}));
}

TEST(Topology, RefusesWhatMakesNoGraph) {
  EXPECT_NE(Refusal(TopologyKind::kRing, 0).find("found 0 nodes"), std::string::npos);
  EXPECT_NE(Refusal(TopologyKind::kRing, 10'001).find("allowed: 1 to 10000"), std::string::npos);
  EXPECT_NE(Refusal(TopologyKind::kComplete, 1415).find("1000405 edges; allowed: 1000000"),
            std::string::npos);
  for (const std::size_t prime : {2U, 3U, 7U, 9973U}) {
    EXPECT_NE(Refusal(TopologyKind::kTorus, prime).find("use ring"), std::string::npos);
  }
  EXPECT_NE(Refusal(TopologyKind::kHypercube, 12).find("8 and 16"), std::string::npos);

  TopologyOptions chance;
  chance.kind = TopologyKind::kErdosRenyi;
  for (const double wrong : {0.0, -0.5, 1.1, std::nan("")}) {
    chance.probability = wrong;
    EXPECT_NE(Refusal(chance, 10).find("above 0 and at most 1"), std::string::npos);
  }
  for (const double subnetwork : {1e-300, 1e-12, 0.001}) {
    chance.probability = subnetwork;
    EXPECT_NE(Refusal(chance, 100).find("none of 100 graphs of 100 nodes"), std::string::npos);
  }
  chance.probability = 0.5;
  EXPECT_NE(Refusal(chance, 10'000).find("more than 1000000 edges"), std::string::npos);

  TopologyOptions given;
  given.kind = TopologyKind::kEdges;
  given.edges = {{0, 1}, {1, 3}};
  EXPECT_NE(Refusal(given, 3).find("(1, 3) names an unknown node; allowed: 0 to 2"), std::string::npos);
  EXPECT_NE(Refusal(given, 4).find("no path between nodes 0 and 2"), std::string::npos);
  given.edges = {{0, 1}, {1, 1}};
  EXPECT_NE(Refusal(given, 2).find("(1, 1) joins a node to itself"), std::string::npos);
  given.edges.assign(1'000'001, {0, 1});
  EXPECT_NE(Refusal(given, 2).find("1000001 edges"), std::string::npos);
}

TEST(FindUnreachable, AgreesWithTheClosure) {
  Rng rng(3);
  int apart = 0;
  for (int i = 0; i < 300; ++i) {
    const Topology graph = AnyGraph(rng, 1 + i % 12, 0.25);
    const auto found = FindUnreachable(graph);
    EXPECT_EQ(!found, ReachesAll(graph));
    if (found) {
      EXPECT_FALSE(Reachable(graph)[found->first][found->second]);
      ++apart;
    }
  }
  EXPECT_GT(apart, 50);
  EXPECT_LT(apart, 250);
}

std::string Refusal(std::string_view text) {
  const auto read = ParseEdgeList(text);
  EXPECT_FALSE(read.ok());
  return read.ok() ? "" : read.status().message();
}

TEST(EdgeList, ReadsTwoNodesALine) {
  const auto edges = ParseEdgeList("# a hub\n0 1\n\n\t2   0 # the far one\r\n   \n9999 0");
  ASSERT_TRUE(edges.ok()) << edges.status();
  EXPECT_EQ(*edges, (std::vector<Edge>{{0, 1}, {2, 0}, {9999, 0}}));
  EXPECT_TRUE(ParseEdgeList("")->empty());
  EXPECT_TRUE(ParseEdgeList("#")->empty());
}

TEST(EdgeList, NamesTheLineOfWhatIsWrong) {
  EXPECT_EQ(Refusal("0 1\n\n2").substr(0, 24), "line 3: names one node; ");
  EXPECT_EQ(Refusal("0 1 2"), "line 1: '2' follows two nodes; an edge has only two, such as '0 1'");
  EXPECT_EQ(Refusal("#\n0 x1"), "line 2: 'x1' is not a node; allowed: a number from 0 to 9999");
  EXPECT_EQ(Refusal("5 5"), "line 1: joins node 5 to itself; leave it out");
  for (const std::string word : {"10000", "-1", "+1", "1.0", "99999999999999999999", "0x1", "1,"}) {
    EXPECT_EQ(Refusal("0 " + word), "line 1: '" + word + "' is not a node; allowed: a number from 0 to 9999");
  }
  // Nothing of it that would garble a terminal, and not all of it.
  EXPECT_EQ(Refusal("\x1b[2J" + std::string(100, 'a') + " 1").substr(0, 50),
            "line 1: '?[2J" + std::string(36, 'a') + "\xe2");
}

TEST(EdgeList, IsBounded) {
  std::string text;
  for (int i = 0; i < 1'000'000; ++i) text += "0 1\n";
  EXPECT_EQ(ParseEdgeList(text)->size(), 1'000'000U);
  EXPECT_EQ(Refusal(text + "0 1"), "line 1000001: has one edge too many; allowed: 1000000");
}

}  // namespace

}  // namespace tributary::inline policy
