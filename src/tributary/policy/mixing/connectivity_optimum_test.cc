#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "tributary/policy/mixing/matchings.h"
#include "tributary/policy/mixing/testing_graphs.h"

namespace tributary::inline policy {
namespace {

double ConnectivityOf(const std::vector<Matching>& matchings, const std::vector<double>& probabilities,
                      std::size_t nodes) {
  return SecondSmallest(DenseLaplacian(matchings, probabilities, nodes));
}

// The best of all probabilities on a grid around `centre` that spend the budget: more of one never harms.
std::vector<double> BestOnGrid(const std::vector<Matching>& matchings, std::size_t nodes, double budget,
                               const std::vector<double>& centre, double reach, int steps) {
  std::vector<double> best, p(matchings.size());
  double most = -1;
  const std::function<void(std::size_t, double)> choose = [&](std::size_t j, double left) {
    if (j + 1 == p.size()) {
      if (left < 0 || left > 1) return;
      p[j] = left;
      const double found = ConnectivityOf(matchings, p, nodes);
      if (found > most) {
        most = found;
        best = p;
      }
      return;
    }
    for (int k = 0; k <= steps; ++k) {
      p[j] = centre[j] - reach + 2 * reach * k / steps;
      if (p[j] >= 0 && p[j] <= 1 && p[j] <= left + 1e-12) choose(j + 1, std::max(0.0, left - p[j]));
    }
  };
  choose(0, budget * static_cast<double>(matchings.size()));
  return best;
}

void ExpectFeasible(const ConnectivityOptimum& optimum, double budget) {
  for (const double p : optimum.probabilities) EXPECT_TRUE(p >= 0 && p <= 1) << p;
  const double sum = std::accumulate(optimum.probabilities.begin(), optimum.probabilities.end(), 0.0);
  EXPECT_LE(sum, budget * static_cast<double>(optimum.probabilities.size()) * (1 + 1e-12));
}

TEST(MaximiseConnectivity, IsTheBestOfAGrid) {
  const Topology graphs[] = {
      GraphOf(4, {{0, 1}, {1, 2}, {2, 3}}),                                  // a path
      GraphOf(4, {{0, 1}, {0, 2}, {0, 3}, {1, 2}}),                          // a triangle with a tail
      GraphOf(5, {{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 0}}),                  // an odd ring
      GraphOf(6, {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {4, 5}}),  // two triangles and a bridge
      GraphOf(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}),                          // a star
      GraphOf(6, {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {2, 3}, {3, 4}, {4, 5}, {1, 5}}),
  };
  for (const Topology& graph : graphs) {
    const auto matchings = Matchings(graph);
    ASSERT_LE(matchings.size(), 4U);
    for (const double budget : {0.1, 0.5, 0.8}) {
      const ConnectivityOptimum optimum = MaximiseConnectivity(matchings, graph.nodes, budget);
      ExpectFeasible(optimum, budget);
      // A coarse grid over all, then finer ones around its best; the problem is concave.
      std::vector<double> best(matchings.size(), 0.5);
      double reach = 0.5;
      for (int zoom = 0; zoom < 5; ++zoom, reach /= 3) {
        best = BestOnGrid(matchings, graph.nodes, budget, best, reach, 12);
        ASSERT_FALSE(best.empty());
      }
      const double grid = ConnectivityOf(matchings, best, graph.nodes);
      const double found = ConnectivityOf(matchings, optimum.probabilities, graph.nodes);
      EXPECT_GE(found, grid * (1 - 2e-5)) << graph.nodes << " nodes, " << graph.edges.size() << " edges";
      EXPECT_LE(found, grid * 1.01);
      EXPECT_GE(optimum.bound, grid);
      EXPECT_LE(optimum.bound, found * (1 + 2e-5));
    }
  }
}

TEST(MaximiseConnectivity, GivesTheSameToMatchingsThatASymmetrySwaps) {
  for (const std::size_t nodes : {4U, 6U, 10U, 40U}) {
    for (const double budget : {0.02, 0.5, 0.99}) {
      const auto matchings = Matchings(Graph(TopologyKind::kRing, nodes));
      for (const double p : MaximiseConnectivity(matchings, nodes, budget).probabilities) {
        EXPECT_NEAR(p, budget, 1e-6 * budget);
      }
    }
  }
}

TEST(MaximiseConnectivity, ProvesItsBoundOnGraphsOfAllKinds) {
  std::vector<Topology> graphs = {Graph(TopologyKind::kTorus, 24), Graph(TopologyKind::kHypercube, 16),
                                  Graph(TopologyKind::kComplete, 9)};
  for (std::uint64_t seed = 0; seed < 12; ++seed) {
    graphs.push_back(Graph(TopologyKind::kErdosRenyi, 8 + seed, 0.35, seed));
  }
  std::vector<Edge> path, star;
  for (std::uint32_t i = 0; i < 30; ++i) {
    path.emplace_back(i, i + 1);
    star.emplace_back(0, i + 1);
  }
  graphs.push_back(GraphOf(31, path));
  graphs.push_back(GraphOf(31, star));
  for (const Topology& graph : graphs) {
    const auto matchings = Matchings(graph);
    for (const double budget : {1e-6, 0.3, 0.7, 0.999}) {
      const ConnectivityOptimum optimum = MaximiseConnectivity(matchings, graph.nodes, budget);
      ExpectFeasible(optimum, budget);
      const double found = ConnectivityOf(matchings, optimum.probabilities, graph.nodes);
      EXPECT_GE(found, optimum.bound * (1 - 2e-5))
          << graph.nodes << " nodes, " << graph.edges.size() << " edges";
      // Nothing is gained by giving all the same.
      EXPECT_GE(found * (1 + 2e-5),
                ConnectivityOf(matchings, std::vector<double>(matchings.size(), budget), graph.nodes));
    }
  }
}

}  // namespace
}  // namespace tributary::inline policy
