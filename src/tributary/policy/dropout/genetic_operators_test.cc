#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/policy/dropout/nsga2.h"

namespace tributary::inline policy {
namespace {

TEST(SimulatedBinaryCrossover, StaysWithinTheBounds) {
  Rng rng(1);
  const std::vector<VariableBounds> bounds = {{0, 1}, {-5, -4}, {0, 1e-9}, {-1e6, 1e6}, {3, 3}};
  for (int i = 0; i < 20'000; ++i) {
    Genome first, second;
    for (const VariableBounds& bound : bounds) {
      // Bounds themselves are frequent.
      for (Genome* parent : {&first, &second}) {
        const std::uint64_t kind = rng.Below(4);
        parent->push_back(kind == 0   ? bound.low
                          : kind == 1 ? bound.high
                                      : Uniform(rng, bound.low, bound.high));
      }
    }
    SimulatedBinaryCrossover(rng, bounds, static_cast<double>(rng.Below(30)), first, second);
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      for (const Genome* child : {&first, &second}) {
        ASSERT_GE((*child)[k], bounds[k].low);
        ASSERT_LE((*child)[k], bounds[k].high);
      }
    }
  }
}

TEST(SimulatedBinaryCrossover, KeepsTheMeanWhereBothSidesHaveEqualRoom) {
  Rng rng(2);
  int crossed = 0;
  for (int i = 0; i < 2000; ++i) {
    const double room = Uniform(rng, 0, 0.5);
    Genome first = {room}, second = {1 - room};
    if (rng.Below(2) == 0) std::swap(first, second);
    const double before = first[0];
    SimulatedBinaryCrossover(rng, std::vector<VariableBounds>{{0, 1}}, 2, first, second);
    EXPECT_NEAR(first[0] + second[0], 1, 1e-12);
    crossed += first[0] != before;
  }
  EXPECT_NEAR(crossed, 1000, 100);  // each variable with probability one half
}

TEST(SimulatedBinaryCrossover, SpreadsAsItsDensitySays) {
  // Far from the bounds the children's distance over the parents' is at most β ≤ 1 with probability β^(η+1) / 2, and
  // above β > 1 with probability β^−(η+1) / 2.
  Rng rng(3);
  constexpr double kEta = 3;
  constexpr int kDraws = 40'000;
  const std::vector<VariableBounds> bounds = {{-1e9, 1e9}};
  int crossed = 0, below_half = 0, below_one = 0, above = 0;
  for (int i = 0; i < kDraws; ++i) {
    Genome first = {1}, second = {2};
    SimulatedBinaryCrossover(rng, bounds, kEta, first, second);
    if (first[0] == 1 && second[0] == 2) continue;
    ++crossed;
    const double ratio = std::abs(first[0] - second[0]);
    below_half += ratio < 0.5;
    below_one += ratio < 1;
    above += ratio > 1.25;
  }
  const double all = crossed;
  EXPECT_NEAR(below_half / all, std::pow(0.5, kEta + 1) / 2, 0.006);
  EXPECT_NEAR(below_one / all, 0.5, 0.015);
  EXPECT_NEAR(above / all, std::pow(1.25, -(kEta + 1)) / 2, 0.012);
}

TEST(SimulatedBinaryCrossover, ReachesUpToTheBoundsWithoutPilingUpOnThem) {
  Rng rng(7);
  const std::vector<VariableBounds> bounds = {{0, 1}};
  double least = 1, most = 0;
  for (int i = 0; i < 20'000; ++i) {
    Genome first = {0.2}, second = {0.6};
    SimulatedBinaryCrossover(rng, bounds, 1, first, second);
    for (const double value : {first[0], second[0]}) {
      ASSERT_TRUE(value > 0 && value < 1);
      least = std::min(least, value);
      most = std::max(most, value);
    }
  }
  EXPECT_LT(least, 0.01);
  EXPECT_GT(most, 0.99);
}

TEST(SimulatedBinaryCrossover, GivesTheLargerValueToEitherChild) {
  Rng rng(8);
  const std::vector<VariableBounds> bounds = {{0, 1}};
  int crossed = 0, first_larger = 0;
  for (int i = 0; i < 4000; ++i) {
    Genome first = {0.4}, second = {0.5};
    SimulatedBinaryCrossover(rng, bounds, 15, first, second);
    if (first[0] == 0.4) continue;
    ++crossed;
    first_larger += first[0] > second[0];
  }
  EXPECT_NEAR(first_larger / static_cast<double>(crossed), 0.5, 0.05);
}

TEST(SimulatedBinaryCrossover, LeavesEqualParentsAlone) {
  Rng rng(4);
  const std::vector<VariableBounds> bounds(10);
  const Genome parent(10, 0.25);
  Genome first = parent, second = parent;
  SimulatedBinaryCrossover(rng, bounds, 15, first, second);
  EXPECT_EQ(first, parent);
  EXPECT_EQ(second, parent);
}

TEST(PolynomialMutation, StaysWithinTheBoundsAndMovesSoManyVariables) {
  Rng rng(5);
  const std::vector<VariableBounds> bounds = {{0, 1}, {-5, -4}, {0, 1e-9}, {-1e6, 1e6}, {3, 3}};
  int moved = 0;
  constexpr int kDraws = 10'000;
  for (int i = 0; i < kDraws; ++i) {
    Genome genome;
    for (const VariableBounds& bound : bounds) {
      genome.push_back(rng.Below(2) == 0 ? bound.low : Uniform(rng, bound.low, bound.high));
    }
    const Genome before = genome;
    PolynomialMutation(rng, bounds, static_cast<double>(rng.Below(30)), 0.2, genome);
    for (std::size_t k = 0; k < bounds.size(); ++k) {
      ASSERT_GE(genome[k], bounds[k].low);
      ASSERT_LE(genome[k], bounds[k].high);
    }
    moved += genome[0] != before[0];
    ASSERT_EQ(genome[4], 3);
  }
  // From a bound only the steps into the room beside it move anything: three quarters on average.
  EXPECT_NEAR(moved, 0.2 * 0.75 * kDraws, 150);
}

TEST(PolynomialMutation, StepsAsItsDensitySays) {
  // In the middle of wide bounds half of the steps go each way, and one is longer than d extents with probability
  // ((1 − d)^(η+1) − r) / (1 − r), where r = (1/2)^(η+1) is what lies beyond the bound.
  Rng rng(6);
  constexpr double kEta = 4;
  constexpr int kDraws = 40'000;
  const std::vector<VariableBounds> bounds = {{-1, 1}};
  int up = 0, far = 0;
  for (int i = 0; i < kDraws; ++i) {
    Genome genome = {0};
    PolynomialMutation(rng, bounds, kEta, 1, genome);
    up += genome[0] > 0;
    far += std::abs(genome[0]) > 0.2;  // a tenth of the extent
  }
  const double beyond = std::pow(0.5, kEta + 1);
  EXPECT_NEAR(up / double{kDraws}, 0.5, 0.01);
  EXPECT_NEAR(far / double{kDraws}, (std::pow(0.9, kEta + 1) - beyond) / (1 - beyond), 0.01);
}

}  // namespace
}  // namespace tributary::inline policy
