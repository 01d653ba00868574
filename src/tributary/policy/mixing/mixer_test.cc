#include "tributary/policy/mixing/mixer.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tributary/policy/mixing/testing_graphs.h"

namespace tributary::inline policy {
namespace {

Mixer Make(MixingRule rule, TopologyKind kind, std::size_t nodes, std::uint64_t seed = 1) {
  MixingOptions options;
  options.rule = rule;
  options.topology.kind = kind;
  auto mixer = Mixer::Make(options, nodes, seed);
  EXPECT_TRUE(mixer.ok()) << mixer.status();
  return std::move(mixer).value();
}

TEST(Mixer, KeepsTheMeanAndBringsAllModelsToIt) {
  for (const MixingRule rule : kMixingRules) {
    for (const TopologyKind kind : {TopologyKind::kRing, TopologyKind::kTorus, TopologyKind::kErdosRenyi}) {
      const Mixer mixer = Make(rule, kind, 12);
      std::vector<double> models(12);
      std::iota(models.begin(), models.end(), 0.0);
      for (std::uint64_t round = 0; round < 400; ++round) {
        const auto rows = mixer.Weights(round);
        ASSERT_EQ(rows.size(), 12U);
        std::vector<double> mixed(12);
        for (std::size_t i = 0; i < 12; ++i) {
          mixed[i] = SelfWeight(rows[i]) * models[i];
          for (const auto& [node, weight] : rows[i]) mixed[i] += weight * models[node];
        }
        models = mixed;
        EXPECT_NEAR(std::accumulate(models.begin(), models.end(), 0.0), 66, 1e-9);
      }
      for (const double model : models) EXPECT_NEAR(model, 5.5, 1e-6) << NameOf(rule) << " " << NameOf(kind);
    }
  }
}

TEST(Mixer, UsesAllEdgesAtEachExchangeUnderMetropolis) {
  const Mixer mixer = Make(MixingRule::kMetropolis, TopologyKind::kHypercube, 8);
  EXPECT_EQ(mixer.Weights(0), MetropolisWeights(mixer.topology()));
  EXPECT_EQ(mixer.Weights(7), mixer.Weights(0));
  EXPECT_FALSE(mixer.matcha().has_value());
}

TEST(Mixer, UsesTheActiveEdgesUnderMatcha) {
  const Mixer mixer = Make(MixingRule::kMatcha, TopologyKind::kHypercube, 8, 5);
  ASSERT_TRUE(mixer.matcha().has_value());
  for (std::uint64_t round = 0; round < 20; ++round) {
    EXPECT_EQ(mixer.Weights(round),
              MatchaWeights(*mixer.matcha(), ActiveEdges(*mixer.matcha(), 5, round), 8));
  }
  // A function of its arguments.
  EXPECT_EQ(Make(MixingRule::kMatcha, TopologyKind::kErdosRenyi, 8, 5).Weights(3),
            Make(MixingRule::kMatcha, TopologyKind::kErdosRenyi, 8, 5).Weights(3));
}

TEST(Mixer, SaysWhatIsWrong) {
  MixingOptions options;
  options.budget = 2;
  EXPECT_TRUE(Mixer::Make(options, 4, 1).ok());  // Metropolis has no budget.
  options.rule = MixingRule::kMatcha;
  EXPECT_NE(Mixer::Make(options, 4, 1).status().message().find("budget"), std::string::npos);
  EXPECT_NE(Mixer::Make(options, 0, 1).status().message().find("nodes"), std::string::npos);
}

TEST(SpeedBatches, FollowSpeedAndKeepTheMean) {
  EXPECT_EQ(SpeedBatches(16, std::vector<double>{1, 1, 1, 1}), (std::vector<std::size_t>{16, 16, 16, 16}));
  EXPECT_EQ(SpeedBatches(16, std::vector<double>{4, 2, 1, 1}), (std::vector<std::size_t>{32, 16, 8, 8}));
  // 30 samples at 2 : 1 : 1 are 15, 7.5 and 7.5; the odd one goes to the first of equals.
  EXPECT_EQ(SpeedBatches(10, std::vector<double>{2, 1, 1}), (std::vector<std::size_t>{15, 8, 7}));
}

TEST(SpeedBatches, LeaveNobodyOut) {
  EXPECT_EQ(SpeedBatches(2, std::vector<double>{1e9, 1}), (std::vector<std::size_t>{4, 1}));
}

}  // namespace

}  // namespace tributary::inline policy
