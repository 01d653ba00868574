#include "tributary/policy/dropout/front.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>

#include "tributary/base/rng.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/dropout/pareto.h"

namespace tributary::inline policy {
namespace {

FrontPoint PointAt(double cost, double convergence, double rate = 0.5) {
  return {.dropout = {rate}, .macs = 2 * cost, .time_ms = cost, .convergence = convergence};
}

ParetoFront ThreePoints() {
  ParetoFront front;
  front.model = "test";
  front.groups = {{"conv", 16}};
  front.points = {PointAt(1, 3), PointAt(2, 2), PointAt(4, 1, 0)};
  return front;
}

TEST(ParetoFront, TheBestFitIsTheCostliestThatIsAffordable) {
  const ParetoFront front = ThreePoints();
  EXPECT_EQ(front.BestFit(0.99), nullptr);
  EXPECT_EQ(front.BestFit(1), &front.points[0]);
  EXPECT_EQ(front.BestFit(1.99), &front.points[0]);
  EXPECT_EQ(front.BestFit(3.9), &front.points[1]);
  EXPECT_EQ(front.BestFit(1e9), &front.points[2]);
  ParetoFront by_macs = front;
  by_macs.cost = FrontCost::kMacs;
  EXPECT_EQ(by_macs.BestFit(3.9), &by_macs.points[0]);
}

TEST(ParetoFront, TheBestFitIsThatOfALookAtAllPoints) {
  Rng rng(4);
  for (int round = 0; round < 500; ++round) {
    ParetoFront front = ThreePoints();
    front.points.clear();
    double cost = 0;
    for (std::uint64_t left = rng.Below(20); left > 0; --left) {
      front.points.push_back(PointAt(cost += 0.1 + rng.Uniform(), static_cast<double>(left)));
    }
    const double budget = 12 * rng.Uniform();
    const FrontPoint* expected = nullptr;
    for (const FrontPoint& point : front.points) {
      if (point.time_ms <= budget) expected = &point;
    }
    EXPECT_EQ(front.BestFit(budget), expected);
  }
}

TEST(ParetoFront, FitsNothingIntoABudgetThatIsNone) {
  const ParetoFront front = ThreePoints();
  EXPECT_EQ(front.BestFit(std::numeric_limits<double>::quiet_NaN()), nullptr);
  EXPECT_EQ(front.BestFit(-std::numeric_limits<double>::infinity()), nullptr);
  EXPECT_EQ(front.BestFit(std::numeric_limits<double>::infinity()), &front.points[2]);
}

// Points 2 and 3 are dominated by nobody, and still worse than leaving the network alone; the cheapest is for those who can
// afford nothing else.
TEST(ParetoFront, WhatDoesHarmIsNotOnItUnlessItIsTheCheapest) {
  const std::vector<FrontPoint> all = {PointAt(3, 2.6), PointAt(1, 9),   PointAt(6, 1.4),
                                       PointAt(2, 4),   PointAt(4, 2.5), PointAt(5, 1.5)};
  const FrontPoint full = PointAt(8, 1, 0);
  EXPECT_EQ(FrontOf(all, full, FrontCost::kTime, 2.5),
            (std::vector<FrontPoint>{PointAt(1, 9), PointAt(5, 1.5), PointAt(6, 1.4), full}));
  EXPECT_EQ(FrontOf(all, full, FrontCost::kTime).size(), 7u);
  // Where training does nothing but harm, that and the full network are left.
  EXPECT_EQ(FrontOf(all, full, FrontCost::kTime, 0.1), (std::vector<FrontPoint>{PointAt(1, 9), full}));
}

// Against the definition, over many points on a coarse grid so that there are equal ones.
TEST(ParetoFront, IsWhatNoOtherPointDominatesAndTheFullNetwork) {
  Rng rng(3);
  for (int round = 0; round < 200; ++round) {
    std::vector<FrontPoint> all;
    for (int i = 0; i < 30; ++i) {
      all.push_back(PointAt(static_cast<double>(rng.Below(12)), static_cast<double>(rng.Below(12))));
    }
    const FrontPoint full = PointAt(10, static_cast<double>(rng.Below(12)), 0);
    ParetoFront front = ThreePoints();
    front.points = FrontOf(all, full, FrontCost::kTime);
    ASSERT_TRUE(CheckFront(front).ok()) << CheckFront(front);
    EXPECT_EQ(front.points.back(), full);
    for (const FrontPoint& point : all) {
      if (point.time_ms >= full.time_ms) continue;
      const bool dominated = std::ranges::any_of(all, [&](const FrontPoint& other) {
        return Dominates(Objectives{other.time_ms, other.convergence},
                         Objectives{point.time_ms, point.convergence});
      });
      EXPECT_EQ(std::ranges::find(front.points, point) == front.points.end(), dominated);
    }
  }
}

TEST(ParetoFront, FaultsAreNamedWithTheirPoint) {
  const auto fault = [](auto change) {
    ParetoFront front = ThreePoints();
    change(front.points);
    return CheckFront(front).message();
  };
  using Points = std::vector<FrontPoint>;
  EXPECT_EQ(fault([](Points&) {}), "");
  EXPECT_NE(fault([](Points& p) { p.clear(); }).find("no points"), std::string::npos);
  EXPECT_NE(fault([](Points& p) {
              p[1].dropout = {1};
            }).find("point 1 of the front: the dropout rate of group 0 is 1;"),
            std::string::npos);
  EXPECT_NE(fault([](Points& p) { p[1].dropout = {-0.1}; }).find("below 1"), std::string::npos);
  EXPECT_NE(fault([](Points& p) { p[0].dropout = {}; }).find("0 dropout rates"), std::string::npos);
  EXPECT_NE(fault([](Points& p) { p[2].dropout = {0.1}; }).find("must be the full network"),
            std::string::npos);
  EXPECT_NE(fault([](Points& p) { std::swap(p[0], p[1]); }).find("sorted by ascending time"),
            std::string::npos);
  EXPECT_NE(fault([](Points& p) { p[1].convergence = 3; }).find("does not converge better"),
            std::string::npos);
  EXPECT_NE(fault([](Points& p) { p[1].macs = -1; }).find("'macs'"), std::string::npos);
  ParetoFront harmful = ThreePoints();
  harmful.untrained = 2;
  EXPECT_NE(CheckFront(harmful).message().find(
                "point 1 of the front has a convergence of 2, which is not better than"),
            std::string::npos);
  harmful.untrained = 2.5;
  EXPECT_TRUE(CheckFront(harmful).ok());
  harmful.untrained = -1;
  EXPECT_NE(CheckFront(harmful).message().find("'untrained'"), std::string::npos);
  // The full network need not be better than all others.
  EXPECT_EQ(fault([](Points& p) { p[2].convergence = 9; }), "");
}

TEST(ParetoFront, FitsOnlyTheNetworkItIsOf) {
  const Model cnn(BuildZooGraph({"cnn", Shape{1, 28, 28}, 10, Stem::kAuto}).value());
  ParetoFront front;
  front.model = "cnn";
  for (const auto& group : cnn.channels.groups) front.groups.push_back({group.name, group.channels});
  EXPECT_TRUE(CheckFrontFits(front, cnn).ok());
  const Model other(BuildZooGraph({"resnet8", Shape{1, 28, 28}, 10, Stem::kAuto}).value());
  EXPECT_NE(CheckFrontFits(front, other).message().find("explored for cnn"), std::string::npos);
  front.groups[1].channels += 8;
  EXPECT_NE(CheckFrontFits(front, cnn).message().find("channel group 1 is"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline policy
