#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "tributary/base/rng.h"
#include "tributary/policy/streaming/stream_batch.h"

namespace tributary::inline policy {
namespace {

using namespace std::chrono_literals;

// Feeds what has arrived by `arrived` (a function of seconds) from `from` to `to`, in intervals of this length.
void Feed(RateEstimate& estimate, const std::function<double(double)>& arrived, Duration from, Duration to,
          Duration interval) {
  const auto count = [&](Duration time) { return std::floor(arrived(ToSeconds(time)) + 1e-9); };
  for (Duration time = from; time < to; time += interval) {
    estimate.Observe(static_cast<std::int64_t>(count(time + interval) - count(time)), interval);
  }
}

TEST(RateEstimate, SaysNothingBeforeTheWarmUp) {
  RateEstimate estimate({.memory = 10s, .warm_up = 2s});
  EXPECT_FALSE(estimate.rate());
  estimate.Observe(1000, 1999ms);
  EXPECT_FALSE(estimate.rate());
  estimate.Observe(0, 1ms);
  EXPECT_TRUE(estimate.rate());
}

TEST(RateEstimate, IsExactForASteadyStreamHoweverItIsCut) {
  Rng rng(7);
  RateEstimate even, uneven;
  Feed(
      even, [](double t) { return 40 * t; }, 0s, 30s, 50ms);
  EXPECT_NEAR(even.rate()->value, 40, 1e-9);
  for (int i = 0; i < 2000; ++i) {
    const auto count = static_cast<std::int64_t>(rng.Below(20));
    uneven.Observe(count, count * 25ms);
  }
  EXPECT_NEAR(uneven.rate()->value, 40, 1e-9);
}

TEST(RateEstimate, FollowsAStepWithinThreeMemories) {
  // 12 samples/s, and from 60 s on 48.
  const auto programme = [](double t) { return t < 60 ? 12 * t : 720 + 48 * (t - 60); };
  RateEstimate estimate({.memory = 5s});
  Feed(estimate, programme, 0s, 60s, 100ms);
  EXPECT_NEAR(estimate.rate()->value, 12, 0.2);
  Feed(estimate, programme, 60s, 65s, 100ms);
  EXPECT_NEAR(estimate.rate()->value, 12 + 36 * (1 - std::exp(-1.0)), 0.5);
  Feed(estimate, programme, 65s, 75s, 100ms);
  EXPECT_NEAR(estimate.rate()->value, 48, 0.05 * 36 + 0.2);
}

TEST(RateEstimate, FallsToNothingWhenTheStreamStops) {
  RateEstimate estimate({.memory = 5s});
  Feed(
      estimate, [](double t) { return 100 * t; }, 0s, 30s, 100ms);
  double before = estimate.rate()->value;
  for (int second = 1; second <= 50; ++second) {
    estimate.Observe(0, 1s);
    EXPECT_LT(estimate.rate()->value, before);
    before = estimate.rate()->value;
    if (second == 5) {
      EXPECT_NEAR(before, 100 * std::exp(-1.0), 1);
    }
  }
  EXPECT_LT(before, 0.01);
}

TEST(RateEstimate, SeesBurstsAsTheirMean) {
  // 60 samples at once every two seconds: 30 samples/s in the mean, and never further off than one burst in the memory.
  RateEstimate estimate({.memory = 20s});
  const auto bursts = [](double t) { return 60 * std::floor(t / 2); };
  Feed(estimate, bursts, 0s, 120s, 10ms);
  for (Duration time = 120s; time < 140s; time += 100ms) {
    Feed(estimate, bursts, time, time + 100ms, 10ms);
    EXPECT_NEAR(estimate.rate()->value, 30, 60 / 20.0);
  }
}

TEST(RateEstimate, CountsWhatComesInNoTime) {
  RateEstimate estimate({.memory = 10s});
  Feed(
      estimate, [](double t) { return 10 * t; }, 0s, 100s, 1s);
  estimate.Observe(10, 0s);
  EXPECT_NEAR(estimate.rate()->value, 11, 1e-3);
}

TEST(RateEstimate, KeepsItsDigitsInTinyIntervals) {
  RateEstimate estimate({.memory = 10s, .warm_up = 0s});
  for (int i = 0; i < 100'000; ++i) estimate.Observe(1, 1us);
  EXPECT_NEAR(estimate.rate()->value / 1e6, 1, 1e-6);
}

}  // namespace
}  // namespace tributary::inline policy
