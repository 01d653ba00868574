#include "tributary/policy/dropout/round_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "tributary/model/channel_groups.h"
#include "tributary/model/model.h"
#include "tributary/model/subnetwork_graph.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/dropout/cost_model.h"
#include "tributary/policy/dropout/testing_front.h"

// What a device chooses from, and what it chooses.
namespace tributary::inline policy {
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

// What is said to cost so much, against the sub-network itself.
TEST(SubnetworkCosts, AreThoseOfTheThinNetwork) {
  for (const std::string name : {"cnn", "resnet8", "mobilenet-v2", "googlenet", "densenet-40"}) {
    const Model model(BuildZooGraph({name, Shape{3, 32, 32}, 10, Stem::kAuto, {}, {}}).value());
    const SubnetworkCosts costs(model);
    Rng rng(5);
    for (int i = 0; i < 5; ++i) {
      std::vector<double> rates;
      for (std::size_t g = 0; g < model.channels.groups.size(); ++g) rates.push_back(0.9 * rng.Uniform());
      const std::vector<std::int64_t> kept = KeptCounts(model.channels, rates);
      const Graph subnetwork = SubnetworkGraph(model, RandomAtoms(model.channels, kept, rng));
      const std::vector<NodeCost> expected = NodeCosts(subnetwork);
      EXPECT_EQ(costs.MacsOf(kept), TotalMacs(expected).value) << name;
      double bytes = 0;
      for (NodeIndex node = 1; node < subnetwork.size(); ++node)
        bytes += static_cast<double>(expected[node].output.value);
      EXPECT_EQ(costs.FeaturesOf(kept).activations, bytes) << name;
      EXPECT_EQ(costs.FeaturesOf(kept).macs, 3 * static_cast<double>(TotalMacs(expected).value));
    }
    std::vector<std::int64_t> all;
    for (const auto& group : model.channels.groups) all.push_back(group.atoms);
    EXPECT_EQ(costs.MacsOf(all), TotalMacs(model.costs).value) << name;
  }
}

const Model& ResNet8() {
  static const Model model(BuildZooGraph({.name = "resnet8"}).value());
  return model;
}

DropoutMenu MenuOf(DropoutOptions options) { return DropoutMenu::Make(ResNet8(), options).value(); }

DropoutOptions ParetoOptions() {
  return {.method = SubnetworkRuleNamed("pareto"),
          .front = testing::FrontFor(ResNet8(), {0.8, 0.6, 0.4, 0.2})};
}

double MacsOf(const Model& model) { return static_cast<double>(TotalMacs(model.costs).value); }

TEST(DropoutMenu, SharesAreThoseOfTheNetworksThatAreTrained) {
  for (const DropoutOptions& options :
       {DropoutOptions{.method = SubnetworkRuleNamed("heterofl")}, ParetoOptions()}) {
    const DropoutMenu menu = MenuOf(options);
    ASSERT_GE(menu.entries().size(), 3U);
    for (std::size_t i = 0; i < menu.entries().size(); ++i) {
      const KeptAtoms kept = AtomsOf(menu, {1, DeviceId{3}, RoundId{2}}, 0, i);
      const Model subnetwork(SubnetworkGraph(ResNet8(), kept));
      EXPECT_NEAR(menu.entries()[i].macs, MacsOf(subnetwork) / MacsOf(ResNet8()), 1e-12) << i;
      EXPECT_EQ(menu.entries()[i].cost, menu.entries()[i].macs);
      if (i > 0) {
        EXPECT_GT(menu.entries()[i].macs, menu.entries()[i - 1].macs);
      }
    }
    EXPECT_EQ(menu.entries().back().macs, 1);
  }
}

TEST(DropoutMenu, WidthsThatComeToTheSameAreOne) {
  // Groups of 16 channels have 8 or 16, and those of 64 between 8 and 64.
  EXPECT_EQ(MenuOf({.method = SubnetworkRuleNamed("uniform"), .widths = {0.01, 0.02, 0.5, 0.51, 1}})
                .entries()
                .size(),
            3U);
}

TEST(DropoutMenu, TimeIsWhatTheFrontsCostModelSays) {
  DropoutOptions options = ParetoOptions();
  options.cost = FrontCost::kTime;
  const DropoutMenu by_time = MenuOf(options);
  const auto seconds = [&](const DropoutMenu::Entry& entry) {
    return 1e-3 + 8e-9 * (entry.features.macs + entry.features.activations);
  };
  for (const DropoutMenu::Entry& entry : by_time.entries()) {
    EXPECT_NEAR(entry.cost, seconds(entry) / seconds(by_time.entries().back()), 1e-12);
    if (entry.macs < 1) {  // A step has a price of its own.
      EXPECT_GT(entry.cost, entry.macs);
    }
  }
  auto without = std::make_shared<ParetoFront>(*options.front);
  without->cost_model = {};
  options.front = without;
  EXPECT_FALSE(DropoutMenu::Make(ResNet8(), options).ok());
}

TEST(DropoutMenu, AFrontOfAnotherNetworkIsRefused) {
  const Model other(BuildZooGraph({.name = "cnn"}).value());
  const auto made = DropoutMenu::Make(other, ParetoOptions());
  ASSERT_FALSE(made.ok());
  EXPECT_NE(made.status().message().find("explored for resnet8"), std::string::npos) << made.status();
}

TEST(DropoutMenu, TheBestThatFitsOrElseTheCheapest) {
  const DropoutMenu menu = MenuOf(ParetoOptions());
  for (std::size_t i = 0; i < menu.entries().size(); ++i) {
    const double budget = menu.entries()[i].cost;
    EXPECT_EQ(menu.BestFit([&](const DropoutMenu::Entry& entry) { return entry.cost <= budget; }), i);
  }
  EXPECT_EQ(menu.BestFit([](const auto&) { return false; }), 0U);
}

// The same front for all: what differs is how often they look, and which channels they take.
DropoutMenu MenuFor(DropoutMethod method) {
  DropoutOptions options = ParetoOptions();
  options.method = method;
  return MenuOf(options);
}

std::vector<KeptAtoms> AtomsOfRound(DropoutMethod method, DeviceId device, RoundId round, std::size_t steps,
                                    double budget = 0.5) {
  const DropoutMenu menu = MenuFor(method);
  RoundChoice choice(menu, {7, device, round});
  std::vector<KeptAtoms> atoms;
  for (std::size_t step = 0; step < steps; ++step) {
    choice.Next([&](const DropoutMenu::Entry& entry) { return entry.cost <= budget; });
    atoms.push_back(choice.Atoms(step));
  }
  return atoms;
}

TEST(RoundChoice, ChannelsStayTheSameInARoundOrChangeAtEachStepAsTheMethodHasIt) {
  constexpr std::size_t kSteps = 6;
  for (const auto& method :
       {SubnetworkRuleNamed("uniform"), SubnetworkRuleNamed("heterofl"), SubnetworkRuleNamed("fedrolex")}) {
    const auto atoms = AtomsOfRound(method, DeviceId{1}, RoundId{4}, kSteps);
    EXPECT_EQ(std::set(atoms.begin(), atoms.end()).size(), 1U);
    const auto next = AtomsOfRound(method, DeviceId{1}, RoundId{5}, 1);
    EXPECT_EQ(next[0] == atoms[0], method == SubnetworkRuleNamed("heterofl"));
    const auto another = AtomsOfRound(method, DeviceId{2}, RoundId{4}, 1);
    EXPECT_EQ(another[0] == atoms[0], method != SubnetworkRuleNamed("uniform"));
  }
  const auto atoms = AtomsOfRound(SubnetworkRuleNamed("pareto"), DeviceId{1}, RoundId{4}, kSteps);
  EXPECT_EQ(std::set(atoms.begin(), atoms.end()).size(), kSteps);
  EXPECT_EQ(AtomsOfRound(SubnetworkRuleNamed("pareto"), DeviceId{1}, RoundId{4}, kSteps), atoms);
}

TEST(RoundChoice, ParetoTakesTheFirstChannelsWhereItIsToldTo) {
  DropoutOptions options = ParetoOptions();
  options.channels = ChannelChoice::kFirst;
  const DropoutMenu menu = MenuOf(options);
  for (std::size_t entry = 0; entry < menu.entries().size(); ++entry) {
    const KeptAtoms kept = AtomsOf(menu, {1, DeviceId{entry}, RoundId{5}}, 3, entry);
    for (std::size_t group = 0; group < kept.size(); ++group) {
      ASSERT_EQ(static_cast<std::int64_t>(kept[group].size()), menu.entries()[entry].kept[group]);
      EXPECT_EQ(kept[group].back() + 1, menu.entries()[entry].kept[group]);
    }
  }
}

TEST(RoundChoice, OnlyParetoLooksAtEveryStep) {
  for (const auto& method :
       {SubnetworkRuleNamed("uniform"), SubnetworkRuleNamed("heterofl"), SubnetworkRuleNamed("fedrolex"),
        SubnetworkRuleNamed("fjord"), SubnetworkRuleNamed("pareto")}) {
    const DropoutMenu menu = MenuFor(method);
    RoundChoice choice(menu, {1, DeviceId{0}, RoundId{1}});
    int asked = 0;
    std::size_t all_asked = 0;
    for (int step = 0; step < 5; ++step) {
      asked = 0;
      choice.Next([&](const auto&) { return ++asked > step; });
      all_asked += asked > 0;
    }
    EXPECT_EQ(all_asked, method == SubnetworkRuleNamed("pareto") ? 5U : 1U);
    // At step i the first i were too much.
    if (method == SubnetworkRuleNamed("pareto")) {
      EXPECT_EQ(choice.chosen(), (std::vector<std::uint32_t>{4, 3, 2, 1, 0}));
    }
  }
}

TEST(RoundChoice, FjordTakesEveryWidthThatTheDeviceCanAffordAndNestsThem) {
  const DropoutMenu menu = MenuOf({.method = SubnetworkRuleNamed("fjord")});
  const std::size_t most = menu.entries().size() - 2;
  const double budget = menu.entries()[most].cost;
  RoundChoice choice(menu, {1, DeviceId{0}, RoundId{1}});
  std::vector<int> times(menu.entries().size(), 0);
  constexpr int kSteps = 3000;
  for (int step = 0; step < kSteps; ++step) {
    ++times[choice.Next([&](const DropoutMenu::Entry& entry) { return entry.cost <= budget; })];
  }
  for (std::size_t i = 0; i <= most; ++i) {
    const double expected = kSteps / static_cast<double>(most + 1);
    EXPECT_NEAR(times[i], expected, 5 * std::sqrt(expected)) << i;
  }
  EXPECT_EQ(times.back(), 0);
}

}  // namespace

}  // namespace tributary::inline policy
