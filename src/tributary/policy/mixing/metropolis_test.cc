#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tributary/policy/mixing/testing_graphs.h"
#include "tributary/policy/mixing/topology.h"

namespace tributary::inline policy {
namespace {

// From the formula, by way of all pairs.
Dense NaiveWeights(const Topology& graph) {
  Dense adjacent(graph.nodes, std::vector<double>(graph.nodes, 0));
  for (const auto& [a, b] : graph.edges) adjacent[a][b] = adjacent[b][a] = 1;
  Dense weights = adjacent;
  for (std::size_t i = 0; i < graph.nodes; ++i) {
    for (std::size_t j = 0; j < graph.nodes; ++j) {
      const double di = std::accumulate(adjacent[i].begin(), adjacent[i].end(), 0.0);
      const double dj = std::accumulate(adjacent[j].begin(), adjacent[j].end(), 0.0);
      weights[i][j] = adjacent[i][j] / (1 + std::max(di, dj));
    }
    weights[i][i] = 1 - std::accumulate(weights[i].begin(), weights[i].end(), 0.0);
  }
  return weights;
}

TEST(MetropolisWeights, AreThoseOfTheFormula) {
  Rng rng(4);
  for (int i = 0; i < 60; ++i) {
    const Topology graph = AnyGraph(rng, 1 + i % 15, 0.1 + 0.015 * i);
    const auto rows = MetropolisWeights(graph);
    const Dense weights = DenseOf(rows), naive = NaiveWeights(graph);
    for (std::size_t a = 0; a < graph.nodes; ++a) {
      EXPECT_TRUE(std::ranges::is_sorted(rows[a], {}, &Neighbour::node));
      for (std::size_t b = 0; b < graph.nodes; ++b) EXPECT_NEAR(weights[a][b], naive[a][b], 1e-15);
    }
  }
}

TEST(MetropolisWeights, KeepTheMeanAndComeToIt) {
  for (const TopologyKind kind : {TopologyKind::kRing, TopologyKind::kTorus, TopologyKind::kComplete,
                                  TopologyKind::kErdosRenyi, TopologyKind::kHypercube}) {
    const Dense weights = DenseOf(MetropolisWeights(Graph(kind, 16, 0.3)));
    for (std::size_t i = 0; i < 16; ++i) {
      double row = 0;
      for (std::size_t j = 0; j < 16; ++j) {
        EXPECT_EQ(weights[i][j], i == j ? weights[i][i] : weights[j][i]);
        EXPECT_GE(weights[i][j], 0);
        row += weights[i][j];
      }
      EXPECT_NEAR(row, 1, 1e-15);
    }
    EXPECT_LT(NormWithoutMean(weights), 0.98) << NameOf(kind);
  }
  // In a graph of two parts they do not.
  EXPECT_NEAR(NormWithoutMean(DenseOf(MetropolisWeights(Topology{4, {{0, 1}, {2, 3}}}))), 1, 1e-12);
}

TEST(SelfWeight, TakesBackWhatAbsentNeighboursWouldHave) {
  auto rows = MetropolisWeights(Graph(TopologyKind::kComplete, 4));
  EXPECT_DOUBLE_EQ(SelfWeight(rows[2]), 0.25);
  rows[2].erase(rows[2].begin());
  EXPECT_DOUBLE_EQ(SelfWeight(rows[2]), 0.5);
  EXPECT_EQ(SelfWeight({}), 1);
}

}  // namespace
}  // namespace tributary::inline policy
