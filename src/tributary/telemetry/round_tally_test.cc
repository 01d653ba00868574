#include "tributary/telemetry/round_tally.h"

#include <gtest/gtest.h>

#include <limits>

namespace tributary {
namespace {

using namespace std::chrono_literals;

TEST(RoundTally, SharesAreOfTheTimeThatAllHadTogether) {
  RoundTally tally;
  tally.Add({.device = {0}, .samples = 10, .wait = 0s});
  tally.Add({.device = {1}, .outcome = Outcome::kLate, .samples = 20, .wait = 6s, .kept = 0.25});
  tally.Add({.device = {2}, .samples = 5, .wait = 9s, .kept = 0.75});
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
  tally.Add({.wait = 1s, .kept = 0.5});
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
}  // namespace tributary
