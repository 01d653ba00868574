#include "tributary/store/downsample.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tributary/base/rng.h"

namespace tributary::inline store {
namespace {

using namespace std::chrono_literals;

std::vector<RoundRecord> SomeRounds(std::uint64_t count) {
  std::vector<RoundRecord> rounds;
  for (std::uint64_t i = 1; i <= count; ++i) {
    RoundRecord round;
    round.end = Duration(1s) * static_cast<std::int64_t>(i);
    round.finished = {.round = {i},
                      .duration = 1s,
                      .applied = i,
                      .buffered = i,
                      .bytes_down = {static_cast<std::int64_t>(10 * i)}};
    if (i % 3 != 0) round.finished.train_loss = 1.0 / static_cast<double>(i);
    if (i == 5) round.finished.train_loss = std::numeric_limits<double>::quiet_NaN();
    round.waiting = 0.5;
    rounds.push_back(round);
  }
  return rounds;
}

std::vector<RoundPoint> Buckets(const std::vector<RoundRecord>& rounds, std::uint64_t points) {
  RoundBuckets buckets(rounds.size(), points);
  for (const RoundRecord& round : rounds) buckets.Add(round);
  return std::move(buckets).Finish();
}

// Against sums and extremes over the rounds that a point says it stands for, for every count of points.
TEST(RoundBuckets, PointsAreTheRoundsTheyStandFor) {
  const auto rounds = SomeRounds(57);
  for (std::uint64_t most = 1; most <= 60; ++most) {
    const auto points = Buckets(rounds, most);
    EXPECT_LE(points.size(), most);
    std::uint64_t next = 1;
    for (const RoundPoint& point : points) {
      ASSERT_EQ(point.first.value, next);
      next = point.last.value + 1;
      std::uint64_t applied = 0, losses = 0;
      std::int64_t bytes = 0;
      double sum = 0, low = 1e9, high = -1e9;
      for (std::uint64_t i = point.first.value; i <= point.last.value; ++i) {
        const RoundFinished& round = rounds[i - 1].finished;
        applied += round.applied;
        bytes += round.bytes_down.value;
        if (!round.train_loss || std::isnan(*round.train_loss)) continue;
        ++losses;
        sum += *round.train_loss;
        low = std::min(low, *round.train_loss);
        high = std::max(high, *round.train_loss);
      }
      EXPECT_EQ(point.rounds, point.last.value - point.first.value + 1);
      EXPECT_EQ(point.applied, applied);
      EXPECT_EQ(point.down.value, bytes);
      EXPECT_EQ(point.end, Duration(1s) * static_cast<std::int64_t>(point.last.value));
      EXPECT_EQ(point.buffered, point.last.value);
      EXPECT_EQ(point.waiting->mean, 0.5);
      EXPECT_EQ(point.train_loss.has_value(), losses > 0);
      if (losses > 0) {
        EXPECT_DOUBLE_EQ(point.train_loss->mean, sum / static_cast<double>(losses));
        EXPECT_EQ(point.train_loss->low, low);
        EXPECT_EQ(point.train_loss->high, high);
      }
    }
    EXPECT_EQ(next, 58U);
  }
}

TEST(LargestTriangles, KeepsAllOfFewAndTheEndsOfMany) {
  const std::vector<double> x = {0, 1, 2}, y = {5, 6, 7};
  EXPECT_EQ(LargestTriangles(x, y, 3), (std::vector<std::size_t>{0, 1, 2}));
  EXPECT_EQ(LargestTriangles(x, y, 2), (std::vector<std::size_t>{0, 2}));
  EXPECT_TRUE(LargestTriangles({}, {}, 2).empty());
}

TEST(LargestTriangles, ASpikeIsNeverLost) {
  Rng rng(3);
  for (int trial = 0; trial < 200; ++trial) {
    std::vector<double> x, y;
    for (int i = 0; i < 500; ++i) {
      x.push_back(i);
      y.push_back(0.01 * rng.Uniform());
    }
    const std::size_t spike = 1 + rng.Next() % 498;
    y[spike] = 1;
    const auto chosen = LargestTriangles(x, y, 20);
    ASSERT_EQ(chosen.size(), 20U);
    EXPECT_TRUE(std::is_sorted(chosen.begin(), chosen.end()));
    EXPECT_EQ(std::adjacent_find(chosen.begin(), chosen.end()), chosen.end());
    EXPECT_NE(std::find(chosen.begin(), chosen.end(), spike), chosen.end()) << spike;
  }
}

// By hand: of points 1, 2, 3 between (0, 0) and the mean (4, 0) of what follows, the area goes with |y|.
TEST(LargestTriangles, AnExampleByHand) {
  const std::vector<double> x = {0, 1, 2, 3, 4}, y = {0, 1, -3, 2, 0};
  EXPECT_EQ(LargestTriangles(x, y, 3), (std::vector<std::size_t>{0, 2, 4}));
}

TEST(LargestTriangles, WhatIsNotFiniteDoesNoHarm) {
  const std::vector<double> x = {0, 1, 2, 3, 4, 5}, y = {0, INFINITY, NAN, 2, -INFINITY, 0};
  EXPECT_EQ(LargestTriangles(x, y, 4).size(), 4U);
}

}  // namespace
}  // namespace tributary::inline store
