#include "tributary/policy/dropout/screening.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "tributary/base/rng.h"
#include "tributary/policy/dropout/nsga2.h"
#include "tributary/policy/dropout/pareto.h"

namespace tributary::inline policy {
namespace {

// Values that fall with cost, from good vectors and bad ones; the short evaluation sees them shrunken and with noise.
struct Made {
  explicit Made(std::uint64_t seed, double noise) {
    Rng rng(seed);
    for (int i = 0; i < 400; ++i) {
      const double cost = 1 + 9 * rng.Uniform();
      const double value = 1 + 2 / cost + rng.Uniform();
      const double screened = 1.5 + 0.4 * (value + noise * (2 * rng.Uniform() - 1)) + 0.02 * cost;
      all.push_back({cost, screened, value});
    }
  }
  std::vector<FullyEvaluated> all;
};

// The first 100 are known, the others asked about.
struct Asked : Made {
  Asked(std::uint64_t seed, double noise) : Made(seed, noise) {
    for (const FullyEvaluated& one : all) points.push_back({one.cost, one.value});
    for (const FullyEvaluated& one : std::span(all).subspan(100))
      candidates.push_back({one.cost, one.screened});
  }
  std::vector<bool> Worth(const ScreeningOptions& options) const {
    return WorthEvaluating(std::span(all).first(100), candidates, options);
  }
  // What is dominated by those known and those chosen.
  double HypervolumeWith(const std::vector<bool>& worth) const {
    std::vector<Objectives> found(points.begin(), points.begin() + 100);
    for (std::size_t i = 0; i < worth.size(); ++i) {
      if (worth[i]) found.push_back(points[100 + i]);
    }
    return Hypervolume2D(found, Objectives{10, 4});
  }
  std::vector<Objectives> points;
  std::vector<ScreenedOnly> candidates;
};

TEST(WorthEvaluating, NeverDropsWhatBelongsOnTheFrontWhereTheShareIsOne) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Asked asked(seed, 0.1);
    const std::vector<bool> worth = asked.Worth({.share = 1});
    for (const std::size_t on_front : NonDominated(asked.points)) {
      if (on_front >= 100) {
        EXPECT_TRUE(worth[on_front - 100]) << "seed " << seed << ", point " << on_front;
      }
    }
    // And it is good for something.
    EXPECT_LT(std::ranges::count(worth, true), 150) << "seed " << seed;
  }
}

// A third of the evaluations, and of what all of them would add to the front nearly everything, though the screening is off
// by up to a tenth of the spread between vectors of the same cost.
TEST(WorthEvaluating, AShareFindsTheFrontAllTheSame) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Asked asked(seed, 0.1);
    const std::vector<bool> worth = asked.Worth({});
    EXPECT_LE(std::ranges::count(worth, true), 100);
    const double before = asked.HypervolumeWith({});
    const double all = asked.HypervolumeWith(std::vector<bool>(300, true));
    EXPECT_GT(asked.HypervolumeWith(worth) - before, 0.99 * (all - before)) << "seed " << seed;
  }
}

TEST(WorthEvaluating, TakesAShareFromTheWholeRangeOfCosts) {
  const Asked asked(1, 0.1);
  const std::vector<bool> worth = asked.Worth({.share = 0.1, .margin = 100});
  EXPECT_EQ(std::ranges::count(worth, true), 30);
  std::array<int, 3> thirds{};
  for (std::size_t i = 0; i < worth.size(); ++i) {
    if (worth[i]) ++thirds.at(static_cast<std::size_t>((asked.candidates[i].cost - 1) / 3));
  }
  for (const int count : thirds) EXPECT_GE(count, 3);
}

// The search that it is for: for the same work a better front, though a third of those asked for is evaluated. A screening
// costs a twelfth of an evaluation, and is off by up to a tenth.
TEST(WorthEvaluating, MakesASearchFindMoreForTheSameWork) {
  const auto search = [](double share, std::uint64_t seed) {
    const auto objectives = [](const Genome& x) {
      double g = 0;
      for (std::size_t i = 1; i < x.size(); ++i) g += x[i] / static_cast<double>(x.size() - 1);
      g = 1 + 3 * g;
      return Objectives{x[0], g * (1 - std::sqrt(x[0] / g))};
    };
    Nsga2 nsga2 = Nsga2::Start({.population = 24, .offspring = 48, .seed = seed},
                               std::vector<VariableBounds>(8, {0, 1}))
                      .value();
    Rng rng(seed);
    std::vector<FullyEvaluated> known;
    for (double work = 0; work < 300;) {
      std::vector<ScreenedOnly> screened;
      for (const Genome& genome : nsga2.asked()) {
        const Objectives o = objectives(genome);
        screened.push_back({o[0], 0.5 * o[1] + 0.1 * (2 * rng.Uniform() - 1)});
      }
      std::vector<bool> worth(screened.size(), true);
      if (share < 1) {
        worth = WorthEvaluating(known, screened, {.share = share});
        work += static_cast<double>(screened.size()) / 12;
      }
      std::vector<Objectives> told(screened.size());
      for (std::size_t i = 0; i < told.size(); ++i) {
        if (!worth[i]) continue;
        told[i] = objectives(nsga2.asked()[i]);
        known.push_back({told[i][0], screened[i].screened, told[i][1]});
        work += 1;
      }
      EXPECT_TRUE(nsga2.Tell(told).ok());
    }
    std::vector<Objectives> found;
    for (const FullyEvaluated& one : known) found.push_back({one.cost, one.value});
    return Hypervolume2D(found, Objectives{1.1, 4});
  };
  double with = 0, without = 0;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    with += search(1.0 / 3, seed) / 10;
    without += search(1, seed) / 10;
  }
  EXPECT_GT(with, without);
}

TEST(WorthEvaluating, KeepsEverybodyWhileThereIsLittleToLearnFrom) {
  const std::vector<FullyEvaluated> known(9, {1, 1, 1});
  const std::vector<ScreenedOnly> candidates = {{2, 100}, {3, 0.1}};
  EXPECT_EQ(WorthEvaluating(known, candidates), (std::vector<bool>{true, true}));
}

TEST(WorthEvaluating, KeepsTheMostPromisingWhereAllSeemDominated) {
  std::vector<FullyEvaluated> known;
  for (int i = 0; i < 20; ++i) known.push_back({1 + 0.1 * i, 1 + 0.01 * i, 1 + 0.01 * i});
  const std::vector<ScreenedOnly> candidates = {{3, 5}, {3, 2}, {3, 4}};
  EXPECT_EQ(WorthEvaluating(known, candidates), (std::vector<bool>{false, true, false}));
}

// What is cheaper than everything is worth it whatever its loss; equal costs do not upset the fit.
TEST(WorthEvaluating, KeepsWhatIsCheaperThanAll) {
  std::vector<FullyEvaluated> known;
  for (int i = 0; i < 20; ++i) known.push_back({2, 1 + 0.01 * i, 1 + 0.01 * i});
  const std::vector<ScreenedOnly> candidates = {{1, 50}, {2, 50}, {2, 0.5}};
  EXPECT_EQ(WorthEvaluating(known, candidates, {.share = 1}), (std::vector<bool>{true, false, true}));
}

}  // namespace
}  // namespace tributary::inline policy
