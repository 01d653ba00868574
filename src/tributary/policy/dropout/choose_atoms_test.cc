#include "tributary/policy/dropout/choose_atoms.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "tributary/model/kept_counts.h"
#include "tributary/model/model.h"
#include "tributary/model/thin_graph.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/dropout/thin_cost.h"

namespace tributary {
namespace {

ChannelGroups Groups(std::vector<std::pair<std::int64_t, std::int64_t>> channels_and_atoms) {
  ChannelGroups groups;
  for (const auto& [channels, atoms] : channels_and_atoms) groups.groups.push_back({"g", channels, atoms});
  return groups;
}

TEST(KeptCounts, FillLanesAndKeepSomething) {
  const ChannelGroups groups = Groups({{64, 64}, {64, 64}, {64, 64}, {12, 12}, {12, 12}, {5, 5}, {64, 16}});
  const std::vector<double> rates = {0, 0.3, 0.99, 0.5, 0.1, 0.9, 0.45};
  // 44.8 channels are nearest to 48; 6 of 12 to 8, 10.8 to all; 5 are fewer than lanes; 8.8 atoms of 4 channels to 8.
  EXPECT_EQ(KeptCounts(groups, rates), (std::vector<std::int64_t>{64, 48, 8, 8, 8, 5, 8}));
  EXPECT_EQ(KeptCounts(groups, rates, 1), (std::vector<std::int64_t>{64, 45, 1, 6, 11, 1, 9}));
  const std::vector<std::int64_t> kept = {16, 64, 48, 12, 8, 5, 4};
  const std::vector<double> back = RatesOf(groups, kept);
  EXPECT_EQ(KeptCounts(groups, back), kept);
}

TEST(ChooseAtoms, AnySetOfTheSizeIsAsLikelyAsAnyOther) {
  const ChannelGroups groups = Groups({{5, 5}});
  Rng rng(3);
  std::map<std::vector<std::int32_t>, int> seen;
  constexpr int kDraws = 20'000;
  const std::vector<std::int64_t> counts = {2};
  for (int i = 0; i < kDraws; ++i) ++seen[RandomAtoms(groups, counts, rng)[0]];
  ASSERT_EQ(seen.size(), 10U);
  double chi_square = 0;
  for (const auto& [set, times] : seen) chi_square += std::pow(times - kDraws / 10.0, 2) / (kDraws / 10.0);
  EXPECT_LT(chi_square, 27.9);  // of 9 degrees of freedom: once in a thousand seeds
}

TEST(ChooseAtoms, FirstOnesAreNestedAndRollingOnesComeRound) {
  const ChannelGroups groups = Groups({{6, 6}, {4, 4}});
  const auto counts = [](std::int64_t a, std::int64_t b) { return std::vector<std::int64_t>{a, b}; };
  EXPECT_EQ(FirstAtoms(groups, counts(2, 4)), (KeptAtoms{{0, 1}, {0, 1, 2, 3}}));
  EXPECT_EQ(RollingAtoms(groups, counts(3, 2), 5), (KeptAtoms{{0, 1, 5}, {1, 2}}));
  std::vector<int> times(6, 0);
  for (std::uint64_t shift = 0; shift < 6; ++shift) {
    const KeptAtoms kept = RollingAtoms(groups, counts(3, 2), shift);
    for (const std::int32_t atom : kept[0]) ++times[static_cast<std::size_t>(atom)];
  }
  EXPECT_EQ(times, std::vector<int>(6, 3));
}

// What is said to cost so much, against the thin network itself.
TEST(ThinCosts, AreThoseOfTheThinNetwork) {
  for (const std::string name : {"cnn", "resnet8", "mobilenet-v2", "googlenet", "densenet-40"}) {
    const Model model(BuildZooGraph({name, Shape{3, 32, 32}, 10, Stem::kAuto, {}, {}}).value());
    const ThinCosts costs(model);
    Rng rng(5);
    for (int i = 0; i < 5; ++i) {
      std::vector<double> rates;
      for (std::size_t g = 0; g < model.channels.groups.size(); ++g) rates.push_back(0.9 * rng.Uniform());
      const std::vector<std::int64_t> kept = KeptCounts(model.channels, rates);
      const Graph thin = ThinGraph(model, RandomAtoms(model.channels, kept, rng));
      const std::vector<NodeCost> expected = NodeCosts(thin);
      EXPECT_EQ(costs.MacsOf(kept), TotalMacs(expected).value) << name;
      double bytes = 0;
      for (NodeIndex node = 1; node < thin.size(); ++node)
        bytes += static_cast<double>(expected[node].output.value);
      EXPECT_EQ(costs.FeaturesOf(kept).activations, bytes) << name;
      EXPECT_EQ(costs.FeaturesOf(kept).macs, 3 * static_cast<double>(TotalMacs(expected).value));
    }
    std::vector<std::int64_t> all;
    for (const auto& group : model.channels.groups) all.push_back(group.atoms);
    EXPECT_EQ(costs.MacsOf(all), TotalMacs(model.costs).value) << name;
  }
}

}  // namespace
}  // namespace tributary
