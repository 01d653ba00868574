#include "tributary/explore/uniform_comparison.h"

#include <gtest/gtest.h>

namespace tributary::inline explore {
namespace {

TEST(ComparisonTally, ReadsBothAtAllCosts) {
  const auto point = [](double rate, double cost, std::vector<double> losses) {
    return FrontExtras::Retrained{{{rate}, cost, cost, 1}, std::move(losses)};
  };
  const FrontExtras::Comparison comparison = {
      {point(0.9, 20, {2.0, 3.0}), point(0.5, 50, {1.0, 1.0}), point(0.2, 80, {0.9, 0.7})},
      {point(0.8, 10, {2.0, 2.0}), point(0.6, 40, {1.5, 1.0}), point(0.5, 50, {1.0, 1.0}),
       point(0.3, 70, {0.6, 0.9}), point(0.0, 100, {0.5, 0.5})}};
  //  20 to  40: 0.9 against 0.8, gains 0 and 1: better, by 0.5, deviation 0.71
  //  40 to  50: 0.9 against 0.6, gains 0.5 and 2: better, by 1.25, deviation 1.06
  //  50 to  70: the same vector
  //  70 to  80: 0.5 against 0.3, gains 0.4 and 0.1: better, by 0.25, deviation 0.21
  //  80 to 100: 0.2 against 0.3, gains 0.3 and -0.2: better, by 0.05, deviation 0.35
  const std::vector<ComparedCosts> parts = CompareAtAllCosts(comparison, FrontCost::kMacs);
  ASSERT_EQ(parts.size(), 5u);
  EXPECT_EQ(parts[1].from, 40);
  EXPECT_EQ(parts[1].to, 50);
  EXPECT_EQ(parts[1].uniform, &comparison.uniform[0]);
  EXPECT_EQ(parts[1].front, &comparison.front[1]);
  EXPECT_EQ(parts[1].Gains(), (std::vector<double>{0.5, 2}));
  EXPECT_TRUE(parts[2].same());
  ComparisonTally tally = TallyOf(comparison, FrontCost::kMacs);
  EXPECT_DOUBLE_EQ(tally.better, 60.0 / 80);
  EXPECT_DOUBLE_EQ(tally.same, 20.0 / 80);
  EXPECT_DOUBLE_EQ(tally.worse, 0);
  EXPECT_DOUBLE_EQ(tally.clearly_better, 20.0 / 80);
  EXPECT_DOUBLE_EQ(tally.clearly_worse, 0);

  // The front's point at 70 is worse than the uniform one at 80, and the same for each chance.
  FrontExtras::Comparison worse = comparison;
  worse.front[3].losses = {1.0, 0.8};
  tally = TallyOf(worse, FrontCost::kMacs);
  EXPECT_DOUBLE_EQ(tally.better, 40.0 / 80);
  EXPECT_DOUBLE_EQ(tally.worse, 20.0 / 80);
  EXPECT_DOUBLE_EQ(tally.clearly_worse, 20.0 / 80);
}

}  // namespace
}  // namespace tributary::inline explore
