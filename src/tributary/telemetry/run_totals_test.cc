#include "tributary/telemetry/run_totals.h"

#include <gtest/gtest.h>

#include <limits>
#include <string>
#include <utility>
#include <vector>

namespace tributary::inline telemetry {
namespace {

using namespace std::chrono_literals;

TEST(DeviceTotals, EveryFigureAddsUpByItsRule) {
  DeviceTotals totals;
  totals.Add(DeviceFinished{.round = {1},
                            .device = {3},
                            .outcome = Outcome::kLate,
                            .reason = "slow",
                            .samples = 5,
                            .pull = 1s,
                            .push = 2s,
                            .down = {7},
                            .stream_rate = 4.5,
                            .buffered = 8,
                            .dropped = 2,
                            .trained_share = 0.5});
  totals.Add(DeviceFinished{.round = {2},
                            .device = {3},
                            .reason = "none",
                            .samples = 6,
                            .pull = 10s,
                            .down = {70},
                            .dropped = 3,
                            .trained_share = 0.25});
  EXPECT_EQ(totals.round, RoundId{2});
  EXPECT_EQ(totals.device, DeviceId{3});
  EXPECT_EQ(totals.outcome, Outcome::kApplied);
  EXPECT_EQ(totals.reason, "slow");  // Of the last time it was not applied.
  EXPECT_EQ(totals.applied, 1U);
  EXPECT_EQ(totals.missed, 1U);
  EXPECT_EQ(totals.samples, 11U);
  EXPECT_EQ(totals.transfer(), 13s);
  EXPECT_EQ(totals.down, Bytes{77});
  EXPECT_EQ(totals.stream_rate, 4.5);  // What is absent says nothing.
  EXPECT_EQ(totals.buffered, 0U);
  EXPECT_EQ(totals.level, 8U);
  EXPECT_EQ(totals.dropped, 3U);
  EXPECT_EQ(totals.trained_share, 0.25);
  EXPECT_EQ(totals.kept_sum, 0.75);
  EXPECT_EQ(totals.chose, 2U);

  DeviceTotals twice;
  twice.Add(totals);
  twice.Add(totals);
  EXPECT_EQ(twice.applied, 2U);
  EXPECT_EQ(twice.missed, 2U);
  EXPECT_EQ(twice.transfer(), 26s);
  EXPECT_EQ(twice.down, Bytes{154});
  EXPECT_EQ(twice.kept_sum, 1.5);
  EXPECT_EQ(twice.chose, 4U);
}

TEST(DeviceTotals, WhatIsShownOfThemIsSaidOnce) {
  DeviceTotals totals;
  totals.Add(DeviceFinished{
      .pull = 1s, .compute = 2s, .push = 3s, .wait = 4s, .hidden = 5s, .down = {6}, .up = {7}, .coding = 8s});
  std::vector<std::pair<std::string, double>> shown;
  PutDeviceTotals(totals, [&](const std::string& key, auto value) {
    shown.emplace_back(key, static_cast<double>(value));
  });
  const std::vector<std::pair<std::string, double>> expected = {
      {"compute_seconds", 2}, {"transfer_seconds", 4}, {"hidden_seconds", 5}, {"waiting_seconds", 4},
      {"coding_seconds", 8},  {"bytes_down", 6},       {"bytes_up", 7}};
  EXPECT_EQ(shown, expected);
}

TEST(RunTotals, DevicesBeyondTheFirstAreOne) {
  RunTotals totals(2);
  for (const std::uint64_t device : {1, 2, 3}) {
    totals.Write({1s, DeviceFinished{.device = {device}, .compute = 1s, .relayed = {5}}});
  }
  ASSERT_EQ(totals.devices.size(), 2U);
  EXPECT_EQ(totals.devices[0].applied, 0U);
  EXPECT_EQ(totals.devices[0].device, DeviceId{0});
  EXPECT_EQ(totals.devices[1].applied, 1U);
  EXPECT_EQ(totals.others.applied, 2U);
  EXPECT_EQ(totals.others.compute, 2s);
  EXPECT_EQ(totals.relayed, Bytes{15});
}

TEST(RunTotals, ARoundThatNeverEndedAndARunBeforeDoNotCount) {
  RunTotals totals;
  totals.Write({0s, RunStarted{.seed = 1}});
  totals.Write({1s, RoundStarted{{1}, 1}});
  totals.Write({2s, DeviceFinished{.round = {1}, .wait = 1s}});
  totals.Write({3s, RoundStarted{{1}, 1}});
  totals.Write({4s, DeviceFinished{.round = {1}, .wait = 1s}});
  totals.Write({9s, RoundFinished{.round = {1}, .duration = 4s, .applied = 1, .bytes_up = {3}}});
  EXPECT_EQ(totals.shares.participants, 1U);
  EXPECT_EQ(totals.sums.waiting_share(), 0.25);
  EXPECT_EQ(totals.sums.time, 9s);
  EXPECT_EQ(totals.outcomes, (OutcomeCounts{1, 0, 0, 0, 0}));
  totals.Write({5s, RunStarted{.seed = 2}});
  EXPECT_EQ(totals.run->seed, 2U);
  EXPECT_EQ(totals.sums.time, 5s);
  EXPECT_EQ(totals.sums.up, Bytes{0});
  EXPECT_TRUE(totals.devices.empty());
}

TEST(RoundTally, SharesAreOfTheTimeThatAllHadTogether) {
  RoundTally tally;
  tally.Add({.device = {0}, .samples = 10, .wait = 0s});
  tally.Add({.device = {1}, .outcome = Outcome::kLate, .samples = 20, .wait = 6s, .trained_share = 0.25});
  tally.Add({.device = {2}, .samples = 5, .wait = 9s, .trained_share = 0.75});
  const RoundShares shares = tally.Finish({.duration = 10s});
  EXPECT_EQ(shares.participants, 3U);
  EXPECT_EQ(shares.samples, 15U);  // What came late taught nothing.
  EXPECT_EQ(shares.waited, 15s);
  EXPECT_EQ(shares.present, 30s);
  EXPECT_DOUBLE_EQ(shares.waiting.value(), 0.5);
  EXPECT_DOUBLE_EQ(shares.kept.value(), 0.5);
}

TEST(RoundTally, StartsOverWithEachRound) {
  RoundTally tally;
  tally.Add({.wait = 1s, .trained_share = 0.5});
  tally.Finish({.duration = 1s});
  const RoundShares empty = tally.Finish({.duration = 1s});
  EXPECT_EQ(empty.participants, 0U);
  EXPECT_FALSE(empty.waiting);
  EXPECT_FALSE(empty.kept);
}

TEST(RoundTally, NumbersOfAnySizeAreAddedUp) {
  RoundTally tally;
  for (int i = 0; i < 3; ++i) tally.Add({.samples = ~std::uint64_t{0}, .wait = Duration::max()});
  const RoundShares shares = tally.Finish({.duration = Duration::max()});
  EXPECT_EQ(shares.waited, Duration::max());
  EXPECT_EQ(shares.present, Duration::max());
  EXPECT_EQ(shares.waiting, 1.0);
}

}  // namespace
}  // namespace tributary::inline telemetry
