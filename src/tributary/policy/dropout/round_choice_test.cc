// What a device chooses from, and what it chooses.

#include "tributary/policy/dropout/round_choice.h"

#include <gtest/gtest.h>

#include <set>

#include "tributary/model/thin_graph.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/dropout/testing_front.h"

namespace tributary {
namespace {

const Model& ResNet8() {
  static const Model model(BuildZooGraph({.name = "resnet8"}).value());
  return model;
}

DropoutMenu MenuOf(DropoutOptions options) { return DropoutMenu::Make(ResNet8(), options).value(); }

DropoutOptions ParetoOptions() {
  return {.method = DropoutMethod::kPareto, .front = testing::FrontFor(ResNet8(), {0.8, 0.6, 0.4, 0.2})};
}

double MacsOf(const Model& model) { return static_cast<double>(TotalMacs(model.costs).value); }

TEST(DropoutMenu, SharesAreThoseOfTheNetworksThatAreTrained) {
  for (const DropoutOptions& options :
       {DropoutOptions{.method = DropoutMethod::kHeteroFl}, ParetoOptions()}) {
    const DropoutMenu menu = MenuOf(options);
    ASSERT_GE(menu.entries().size(), 3U);
    for (std::size_t i = 0; i < menu.entries().size(); ++i) {
      const KeptAtoms kept = AtomsOf(menu, {1, DeviceId{3}, RoundId{2}}, 0, i);
      const Model thin(ThinGraph(ResNet8(), kept));
      EXPECT_NEAR(menu.entries()[i].macs, MacsOf(thin) / MacsOf(ResNet8()), 1e-12) << i;
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
  EXPECT_EQ(
      MenuOf({.method = DropoutMethod::kUniform, .widths = {0.01, 0.02, 0.5, 0.51, 1}}).entries().size(), 3U);
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
  for (const auto method : {DropoutMethod::kUniform, DropoutMethod::kHeteroFl, DropoutMethod::kFedRolex}) {
    const auto atoms = AtomsOfRound(method, DeviceId{1}, RoundId{4}, kSteps);
    EXPECT_EQ(std::set(atoms.begin(), atoms.end()).size(), 1U);
    const auto next = AtomsOfRound(method, DeviceId{1}, RoundId{5}, 1);
    EXPECT_EQ(next[0] == atoms[0], method == DropoutMethod::kHeteroFl);
    const auto another = AtomsOfRound(method, DeviceId{2}, RoundId{4}, 1);
    EXPECT_EQ(another[0] == atoms[0], method != DropoutMethod::kUniform);
  }
  const auto atoms = AtomsOfRound(DropoutMethod::kPareto, DeviceId{1}, RoundId{4}, kSteps);
  EXPECT_EQ(std::set(atoms.begin(), atoms.end()).size(), kSteps);
  EXPECT_EQ(AtomsOfRound(DropoutMethod::kPareto, DeviceId{1}, RoundId{4}, kSteps), atoms);
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
  for (const auto method : {DropoutMethod::kUniform, DropoutMethod::kHeteroFl, DropoutMethod::kFedRolex,
                            DropoutMethod::kFjord, DropoutMethod::kPareto}) {
    const DropoutMenu menu = MenuFor(method);
    RoundChoice choice(menu, {1, DeviceId{0}, RoundId{1}});
    int asked = 0;
    std::size_t all_asked = 0;
    for (int step = 0; step < 5; ++step) {
      asked = 0;
      choice.Next([&](const auto&) { return ++asked > step; });
      all_asked += asked > 0;
    }
    EXPECT_EQ(all_asked, method == DropoutMethod::kPareto ? 5U : 1U);
    // At step i the first i were too much.
    if (method == DropoutMethod::kPareto) {
      EXPECT_EQ(choice.chosen(), (std::vector<std::uint32_t>{4, 3, 2, 1, 0}));
    }
  }
}

TEST(RoundChoice, FjordTakesEveryWidthThatTheDeviceCanAffordAndNestsThem) {
  const DropoutMenu menu = MenuOf({.method = DropoutMethod::kFjord});
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
}  // namespace tributary
