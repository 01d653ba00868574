#include "tributary/policy/mixing/matcha.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/policy/mixing/testing_graphs.h"

namespace tributary::inline policy {
namespace {

MatchaPlan Plan(const Topology& graph, double budget) {
  auto plan = PlanMatcha(graph, {budget});
  EXPECT_TRUE(plan.ok()) << plan.status();
  return std::move(plan).value();
}

// E[WᵀW] by way of all sets of active matchings, each W multiplied out.
Dense ExpectedProduct(const MatchaPlan& plan, std::size_t nodes) {
  Dense expected(nodes, std::vector<double>(nodes, 0));
  for (unsigned set = 0; set < (1U << plan.matchings.size()); ++set) {
    double chance = 1;
    std::vector<Edge> active;
    for (std::size_t j = 0; j < plan.matchings.size(); ++j) {
      const bool is_active = (set >> j & 1U) != 0;
      chance *= is_active ? plan.probabilities[j] : 1 - plan.probabilities[j];
      if (is_active) active.insert(active.end(), plan.matchings[j].begin(), plan.matchings[j].end());
    }
    const Dense mixing = DenseOf(MatchaWeights(plan, active, nodes));
    for (std::size_t i = 0; i < nodes; ++i) {
      for (std::size_t j = 0; j < nodes; ++j) {
        for (std::size_t k = 0; k < nodes; ++k) expected[i][j] += chance * mixing[k][i] * mixing[k][j];
      }
    }
  }
  return expected;
}

std::vector<Topology> SmallGraphs() {
  std::vector<Topology> graphs = {
      GraphOf(2, {{0, 1}}),
      GraphOf(4, {{0, 1}, {1, 2}, {2, 3}}),
      GraphOf(6, {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {4, 5}}),
      GraphOf(5, {{0, 1}, {0, 2}, {0, 3}, {0, 4}}),
      Graph(TopologyKind::kRing, 8),
      Graph(TopologyKind::kComplete, 5),
      Graph(TopologyKind::kTorus, 9),
  };
  for (std::uint64_t seed = 0; seed < 4; ++seed)
    graphs.push_back(Graph(TopologyKind::kErdosRenyi, 8, 0.4, seed));
  return graphs;
}

TEST(PlanMatcha, KnowsTheNormOfTheExpectedMixing) {
  for (const Topology& graph : SmallGraphs()) {
    for (const double budget : {0.2, 0.5, 1.0}) {
      const MatchaPlan plan = Plan(graph, budget);
      EXPECT_NEAR(plan.spectral, NormWithoutMean(ExpectedProduct(plan, graph.nodes)), 1e-9);
      EXPECT_LT(plan.spectral, 1);
      EXPECT_NEAR(plan.connectivity,
                  SecondSmallest(DenseLaplacian(plan.matchings, plan.probabilities, graph.nodes)), 1e-10);
      EXPECT_GE(plan.connectivity_bound, plan.connectivity);
      EXPECT_LE(plan.connectivity_bound, plan.connectivity * (1 + 2e-5));
    }
  }
}

TEST(PlanMatcha, HasTheAlphaThatMixesFastest) {
  for (const Topology& graph : SmallGraphs()) {
    const MatchaPlan plan = Plan(graph, 0.5);
    for (int k = 1; k <= 40; ++k) {
      MatchaPlan other = plan;
      other.alpha = plan.alpha * k / 20;
      EXPECT_GE(NormWithoutMean(ExpectedProduct(other, graph.nodes)),
                plan.spectral - 1e-6 * (1 - plan.spectral));
    }
    // Near it, too.
    for (const double factor : {0.99, 1.01}) {
      MatchaPlan other = plan;
      other.alpha = plan.alpha * factor;
      EXPECT_GE(NormWithoutMean(ExpectedProduct(other, graph.nodes)),
                plan.spectral - 1e-6 * (1 - plan.spectral));
    }
  }
}

TEST(PlanMatcha, OfTwoNodesIsKnown) {
  // 1 − 4αp + 4α²p is least at a half, where it is 1 − p.
  const MatchaPlan plan = Plan(GraphOf(2, {{0, 1}}), 0.3);
  EXPECT_NEAR(plan.probabilities[0], 0.3, 1e-12);
  EXPECT_NEAR(plan.alpha, 0.5, 1e-9);
  EXPECT_NEAR(plan.spectral, 0.7, 1e-9);
  EXPECT_NEAR(plan.connectivity, 0.6, 1e-9);
}

TEST(PlanMatcha, WithAllOfTheBudgetUsesAllEdgesAlways) {
  for (const Topology& graph :
       {Graph(TopologyKind::kRing, 10), Graph(TopologyKind::kTorus, 12),
        Graph(TopologyKind::kErdosRenyi, 20, 0.3), Graph(TopologyKind::kTorus, 100)}) {
    const MatchaPlan plan = Plan(graph, 1);
    EXPECT_EQ(plan.probabilities, std::vector<double>(plan.matchings.size(), 1));
    for (std::uint64_t round = 0; round < 50; ++round) EXPECT_EQ(ActiveEdges(plan, 1, round), graph.edges);
    // Of one fixed graph the best weight is 2 / (largest + second smallest eigenvalue).
    const auto values = EigenvaluesOf(DenseLaplacian({graph.edges}, {1}, graph.nodes));
    const double largest = values[0], smallest = values[graph.nodes - 2];
    EXPECT_NEAR(plan.alpha, 2 / (largest + smallest), 1e-5 * plan.alpha);
    EXPECT_NEAR(plan.spectral, std::pow((largest - smallest) / (largest + smallest), 2), 1e-6);
    EXPECT_NEAR(plan.connectivity, smallest, 1e-9);
  }
}

TEST(PlanMatcha, OfAnEvenRingGivesAllTheBudget) {
  const MatchaPlan plan = Plan(Graph(TopologyKind::kRing, 60), 0.5);
  ASSERT_EQ(plan.probabilities.size(), 2U);
  EXPECT_NEAR(plan.probabilities[0], 0.5, 1e-6);
  EXPECT_NEAR(plan.probabilities[1], 0.5, 1e-6);
  EXPECT_NEAR(plan.connectivity, 0.5 * (2 - 2 * std::cos(2 * M_PI / 60)), 1e-8);
}

TEST(PlanMatcha, OfOneNodeIsEmpty) {
  const MatchaPlan plan = Plan(Topology{1, {}}, 0.5);
  EXPECT_TRUE(plan.matchings.empty() && plan.probabilities.empty());
  EXPECT_TRUE(ActiveEdges(plan, 1, 1).empty());
  EXPECT_EQ(MatchaWeights(plan, {}, 1).size(), 1U);
}

TEST(PlanMatcha, RefusesWhatItCannotPlan) {
  const Topology ring = Graph(TopologyKind::kRing, 4);
  for (const double wrong : {0.0, -1.0, 1.01, std::nan("")}) {
    const auto plan = PlanMatcha(ring, {wrong});
    ASSERT_FALSE(plan.ok());
    EXPECT_NE(plan.status().message().find("budget must be above 0 and at most 1"), std::string::npos);
  }
  EXPECT_NE(PlanMatcha(Graph(TopologyKind::kRing, 501), {}).status().message().find("allowed: 500 and 20000"),
            std::string::npos);
  EXPECT_NE(PlanMatcha(Graph(TopologyKind::kComplete, 201), {}).status().message().find("20100 edges"),
            std::string::npos);
  EXPECT_NE(PlanMatcha(Topology{4, {{0, 1}, {2, 3}}}, {}).status().message().find("nodes 0 and 2"),
            std::string::npos);
}

TEST(ActiveEdges, AreThoseOfMatchingsAsOftenAsPlanned) {
  const MatchaPlan plan = Plan(GraphOf(6, {{0, 1}, {0, 2}, {1, 2}, {2, 3}, {3, 4}, {3, 5}, {4, 5}}), 0.5);
  const std::size_t count = plan.matchings.size();
  ASSERT_GE(count, 3U);
  // 20,000 rounds: each matching, and each two of them together, within five standard deviations.
  constexpr int kRounds = 20'000;
  std::vector<std::vector<int>> together(count, std::vector<int>(count, 0));
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    const auto edges = ActiveEdges(plan, 9, round);
    EXPECT_TRUE(std::ranges::is_sorted(edges));
    std::vector<bool> active;
    std::size_t size = 0;
    for (const Matching& matching : plan.matchings) {
      active.push_back(std::ranges::includes(edges, matching));
      if (active.back()) size += matching.size();
    }
    EXPECT_EQ(size, edges.size());  // Whole matchings and nothing else.
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t j = 0; j < count; ++j) together[i][j] += active[i] && active[j] ? 1 : 0;
    }
  }
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t j = 0; j < count; ++j) {
      const double chance = plan.probabilities[i] * (i == j ? 1 : plan.probabilities[j]);
      EXPECT_NEAR(together[i][j], kRounds * chance, 5 * std::sqrt(kRounds * chance * (1 - chance)) + 1e-6);
    }
  }
  EXPECT_EQ(ActiveEdges(plan, 9, 3), ActiveEdges(plan, 9, 3));
  int differ = 0;
  for (std::uint64_t round = 0; round < 100; ++round) {
    if (ActiveEdges(plan, 9, round) != ActiveEdges(plan, 10, round)) ++differ;
  }
  EXPECT_GT(differ, 30);
}

TEST(MatchaWeights, AreTheIdentityLessAlphaTimesTheLaplacian) {
  const Topology graph = Graph(TopologyKind::kTorus, 12);
  const MatchaPlan plan = Plan(graph, 0.6);
  for (std::uint64_t round = 0; round < 20; ++round) {
    const auto active = ActiveEdges(plan, 2, round);
    const auto rows = MatchaWeights(plan, active, graph.nodes);
    const Dense mixing = DenseOf(rows), laplacian = DenseLaplacian({active}, {plan.alpha}, graph.nodes);
    for (std::size_t i = 0; i < graph.nodes; ++i) {
      EXPECT_TRUE(std::ranges::is_sorted(rows[i], {}, &Neighbour::node));
      for (std::size_t j = 0; j < graph.nodes; ++j) {
        EXPECT_NEAR(mixing[i][j], (i == j ? 1 : 0) - laplacian[i][j], 1e-14);
      }
    }
  }
}

}  // namespace
}  // namespace tributary::inline policy
