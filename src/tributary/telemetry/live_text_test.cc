#include <gtest/gtest.h>

#include <cmath>

#include "tributary/telemetry/live_view.h"

namespace tributary::inline telemetry {
namespace {

using namespace std::chrono_literals;

TEST(FormatRunStarted, SaysWhatRunsAndWhatIsChargedInstead) {
  RunStarted run{"first", 1, "sync-sgd", "resnet8", "", "glyphs", 8, 78'042, 100};
  EXPECT_EQ(FormatRunStarted(run),
            "first: sync-sgd of resnet8 on glyphs, 8 devices, 78.0 k parameters, seed 1");
  run.devices = 1;
  run.compute_as = "resnet152";
  run.experiment = "a\x1b[2Jb";
  EXPECT_EQ(
      FormatRunStarted(run),
      "a [2Jb: sync-sgd of resnet8 on glyphs, 1 device, 78.0 k parameters, seed 1, time and bytes charged as"
      " resnet152");
}

TEST(FormatRound, SaysWhatIsKnown) {
  RoundSummary round{72s, 100, 8, {.round = {3}, .applied = 8}};
  EXPECT_EQ(FormatRound(round), "round 3/100  after 1 min 12 s  8/8 applied");
  round.rounds = 0;
  round.finished.train_loss = 0.41234;
  round.finished.slowest = DeviceId{5};
  round.central = Evaluated{{3}, EvaluatedWhere::kCentral, 0.8123, 1, 10};
  round.devices = Evaluated{{3}, EvaluatedWhere::kDevices, 0.5, 1, 10};
  EXPECT_EQ(FormatRound(round),
            "round 3  after 1 min 12 s  8/8 applied  loss 0.4123  accuracy 81.2 %  accuracy 50.0 % on devices"
            "  slowest device 5");
}

TEST(FormatRound, NamesEveryOutcomeThatHappened) {
  const RoundSummary round{1s,
                           5,
                           10,
                           {.round = {5},
                            .applied = 4,
                            .late = 1,
                            .lost = 2,
                            .refused = 1,
                            .crashed = 2,
                            .train_loss = std::nan("")}};
  EXPECT_EQ(FormatRound(round),
            "round 5/5  after 1.0 s  4/10 applied, 1 late, 2 lost, 1 refused, 2 crashed  loss nan");
}

TEST(FormatRunFinished, SaysWhy) {
  EXPECT_EQ(FormatRunFinished({100, RunEnd::kRounds, 0.9}, 7'380s),
            "finished after 100 rounds and 2 h 3 min, accuracy 90.0 %");
  EXPECT_EQ(FormatRunFinished({1, RunEnd::kTime, {}}, 5s),
            "the time budget is spent after 1 round and 5.0 s");
  EXPECT_EQ(FormatRunFinished({2, RunEnd::kTarget, {}}, 5s), "reached the target after 2 rounds and 5.0 s");
  EXPECT_EQ(FormatRunFinished({0, RunEnd::kInterrupted, {}}, 5s), "interrupted after 0 rounds and 5.0 s");
}

TEST(FormatDevice, LetsNoControlCharacterThrough) {
  EXPECT_EQ(FormatDevice({.round = {3}, .device = {5}, .outcome = Outcome::kRefused, .reason = "x\ny"}),
            "round 3: device 5 refused: x y");
  EXPECT_EQ(FormatDevice({.round = {3}, .device = {5}, .outcome = Outcome::kLost}), "round 3: device 5 lost");
}

TEST(FormatLive, SaysWhereTheRunStands) {
  LiveState state{72s, 100, 3, 8, 6, 0.8123, DeviceId{5}};
  EXPECT_EQ(FormatLive(state), "round 3/100  1 min 12 s  6/8 back  accuracy 81.2 %  slowest device 5");
  state = {1s, 0, 3, 8, 8};
  EXPECT_EQ(FormatLive(state), "round 3  1.0 s");
}

TEST(IsShown, EveryRoundOfAShortRunAndSomeOfALongOne) {
  const auto shown = [](std::uint64_t rounds) {
    int count = 0;
    for (std::uint64_t round = 1; round <= rounds; ++round) count += IsShown(round, rounds) ? 1 : 0;
    return count;
  };
  for (const std::uint64_t rounds : {1, 50, 200}) EXPECT_EQ(shown(rounds), rounds);
  EXPECT_EQ(shown(1'000), 1 + 200);  // Every fifth, and the first.
  for (const std::uint64_t rounds : {201, 399, 1'001, 9'999, 123'456}) {
    EXPECT_GE(shown(rounds), 80) << rounds;
    EXPECT_LE(shown(rounds), 202) << rounds;
    EXPECT_TRUE(IsShown(rounds, rounds));
    EXPECT_TRUE(IsShown(1, rounds));
  }
  EXPECT_TRUE(IsShown(200, 0));
  EXPECT_FALSE(IsShown(2'001, 0));
  EXPECT_TRUE(IsShown(1'990, 0));
  EXPECT_FALSE(IsShown(1'991, 0));
}

}  // namespace
}  // namespace tributary::inline telemetry
