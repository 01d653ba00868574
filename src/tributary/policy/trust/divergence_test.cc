#include "tributary/policy/trust/divergence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tributary/policy/trust/trust.h"

namespace tributary::inline policy {
namespace {

using Verdict = DivergenceGuard::Verdict;

constexpr double kGuess = 2.3;
constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(DivergenceGuard, LossesOfAnHonestRunAreSound) {
  DivergenceGuard guard(TrustOptions{}.divergence, kGuess);
  // A loss that falls to almost nothing, with rounds of classes that the network has not seen.
  for (int round = 0; round < 200; ++round) {
    EXPECT_EQ(guard.See(round % 7 == 0 ? 12 : 3 * std::pow(0.9, round)), Verdict::kSound) << round;
  }
}

TEST(DivergenceGuard, AHighLossCountsOnceItIsOneOfThreeInARow) {
  DivergenceGuard guard(20, kGuess);
  EXPECT_EQ(guard.Limit(), 46);
  EXPECT_EQ(guard.See(46), Verdict::kSound);
  EXPECT_EQ(guard.Limit(), 920);  // The median of one.
  EXPECT_EQ(guard.See(921), Verdict::kHigh);
  EXPECT_EQ(guard.See(1), Verdict::kSound);
  EXPECT_EQ(guard.Limit(), 46);
  for (const Verdict expected : {Verdict::kHigh, Verdict::kHigh, Verdict::kDiverged})
    EXPECT_EQ(guard.See(47), expected);
  guard.RolledBack();
  EXPECT_EQ(guard.See(47), Verdict::kHigh);
  EXPECT_EQ(guard.See(kInfinite), Verdict::kDiverged);
  EXPECT_EQ(guard.See(std::nan("")), Verdict::kDiverged);
}

TEST(DivergenceGuard, BlamesTheLargestPartsBeforeTheFirstHighLoss) {
  DivergenceGuard guard(20, kGuess);
  guard.Note(std::vector<Contribution>{{{0}, 10, 1}, {{1}, 14, 1}, {{2}, 1e9, 1}, {{3}, 9, 1}, {{4}, 8, 90}});
  EXPECT_EQ(guard.See(1e20), Verdict::kHigh);
  // From ruined weights, honest devices send what is longer.
  guard.Note(std::vector<Contribution>{{{0}, 1e30, 1}, {{1}, 1e3, 1}, {{2}, 1, 1}});
  const std::vector<DeviceId> two = {{2}, {4}}, one = {{2}};
  EXPECT_EQ(guard.Culprits(3), two);
  EXPECT_EQ(guard.Culprits(1), one);
  EXPECT_TRUE(guard.Culprits(0).empty());
}

TEST(DivergenceGuard, BlamesOneIfAllAreAlikeAndNobodyForASoundLoss) {
  DivergenceGuard guard(20, kGuess);
  guard.Note(std::vector<Contribution>{{{0}, 10, 0}, {{1}, 12, 0}, {{2}, 11, 0}});
  EXPECT_EQ(guard.Culprits(3), std::vector<DeviceId>{{1}});
  EXPECT_EQ(guard.See(2), Verdict::kSound);
  EXPECT_TRUE(guard.Culprits(3).empty());
  // Whoever is the only one to add something has the largest part.
  guard.Note(std::vector<Contribution>{{{0}, 0, 0}, {{1}, 0, 0}, {{2}, 1, 0}});
  EXPECT_EQ(guard.Culprits(1), std::vector<DeviceId>{{2}});
}

}  // namespace
}  // namespace tributary::inline policy
