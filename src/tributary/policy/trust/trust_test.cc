#include "tributary/policy/trust/trust.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "tributary/base/rng.h"

namespace tributary::inline policy {
namespace {

constexpr double kInfinite = std::numeric_limits<double>::infinity();

TEST(LowerMedian, OneOfTwoDevicesCannotMoveItUp) {
  EXPECT_EQ(LowerMedian({}), 0);
  EXPECT_EQ(LowerMedian({3}), 3);
  EXPECT_EQ(LowerMedian({1e8, 400}), 400);
  EXPECT_EQ(LowerMedian({5, 1, 9}), 5);
}

TEST(LimitOf, FleetsWithSamplesFrom1To50AreLeftAlone) {
  Rng rng(3);
  for (int fleet = 0; fleet < 200; ++fleet) {
    std::vector<double> samples(1 + rng.Below(20));
    for (double& count : samples) count = static_cast<double>(1 + rng.Below(50));
    const double limit = LimitOf(TrustOptions{}.largest_share, samples);
    for (const double count : samples) EXPECT_LE(count, limit);
  }
}

TEST(LimitOf, AMinorityThatClaimsAnythingGetsTheMultipleOfTheMedian) {
  EXPECT_EQ(LimitOf(50, {400, 400, 400, 400, 1e8}), 20'000);
  EXPECT_EQ(LimitOf(50, {400, 1e8, 400, 1e300, 400}), 20'000);
  EXPECT_EQ(LimitOf(0, {400, 1e8}), kInfinite);
  EXPECT_EQ(LimitOf(50, {0, 0, 1}), kInfinite);  // Of nothing there is no multiple.
}

TEST(LimitToMedian, LowersNumbersAndCounts) {
  std::vector<double> speeds = {1e9, 2e9, 1e18};
  LimitToMedian(10, std::span(speeds));
  EXPECT_EQ(speeds, (std::vector<double>{1e9, 2e9, 2e10}));
  std::vector<std::size_t> batches = {8, 9, 1024};
  LimitToMedian(1.5, std::span(batches));
  EXPECT_EQ(batches, (std::vector<std::size_t>{8, 9, 13}));
}

TEST(LimitSizes, ALimitedDeviceCanStillBePlannedWith) {
  SamplingProblem problem{{200, 0, 200, 100'000'000}, {{100, 100}, {0, 0}, {50, 150}, {99'999'999, 1}}, {}};
  LimitSizes(50, problem);
  EXPECT_EQ(problem.sizes, (std::vector<std::int64_t>{200, 0, 200, 10'000}));
  EXPECT_EQ(problem.label_counts[3], (std::vector<std::int64_t>{9999, 1}));
  EXPECT_TRUE(CheckSamplingProblem(problem).ok());
}

TEST(LimitSizes, HonestFleetsAreLeftAlone) {
  const SamplingProblem honest{{50, 1, 7}, {{25, 25}, {1, 0}, {3, 4}}, {}};
  SamplingProblem problem = honest;
  LimitSizes(50, problem);
  EXPECT_EQ(problem, honest);
}

TEST(NormHistory, IsTheMedianOfTheLastRoundsAndOfNoOrder) {
  NormHistory history, other;
  EXPECT_EQ(history.Limit(10), kInfinite);
  history.Add({});
  EXPECT_EQ(history.Limit(10), kInfinite);
  history.Add({1, 2, 1e7});
  other.Add({1e7, 1, 2});
  EXPECT_EQ(history.Limit(10), 20);
  EXPECT_EQ(other.medians(), history.medians());
  for (std::size_t round = 0; round < NormHistory::kRounds; ++round) history.Add({5});
  EXPECT_EQ(history.Limit(10), 50);
  EXPECT_EQ(history.medians().size(), NormHistory::kRounds);
  EXPECT_EQ(NormHistory(history.medians()).Limit(10), 50);
  EXPECT_EQ(history.Limit(0), kInfinite);
}

TEST(NormHistory, RoundsWithHostileParticipantsAloneAreAMinority) {
  NormHistory history;
  for (int round = 0; round < 16; ++round) history.Add({round % 3 == 0 ? 1e7 : 2.0});
  EXPECT_EQ(history.Limit(10), 20);
}

TEST(AreAlike, OneUpdateFarAboveTheOthersIsNot) {
  EXPECT_TRUE(AreAlike(10, {}));
  EXPECT_TRUE(AreAlike(10, {1e9}));
  EXPECT_TRUE(AreAlike(10, {1, 2, 20}));
  EXPECT_FALSE(AreAlike(10, {1, 2, 21}));
  EXPECT_TRUE(AreAlike(0, {1, 2, 21}));
}

}  // namespace
}  // namespace tributary::inline policy
