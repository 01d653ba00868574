#include "tributary/fleet/protocol/backoff.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

namespace tributary::inline protocol {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(Backoff, GrowsFromTheShortestToTheLongestWait) {
  Backoff backoff(milliseconds(200), seconds(30), Rng(1));
  for (int i = 0; i < 1000; ++i) {
    const double full = std::min(30.0, 0.2 * std::pow(1.6, i));
    const double wait = ToSeconds(backoff.Next());
    EXPECT_GE(wait, full / 2 - 1e-9);
    EXPECT_LE(wait, full + 1e-9);
  }
}

TEST(Backoff, StartsAgainAfterASuccess) {
  Backoff backoff(milliseconds(200), seconds(30), Rng(1));
  for (int i = 0; i < 20; ++i) (void)backoff.Next();
  backoff.Reset();
  EXPECT_LE(backoff.Next(), milliseconds(200));
}

TEST(Backoff, KeepsAFleetFromComingAllAtOnce) {
  std::set<Duration> waits;
  double sum = 0;
  for (std::uint64_t device = 0; device < 1000; ++device) {
    const Duration wait = Backoff(seconds(1), seconds(30), Rng(device)).Next();
    waits.insert(wait);
    sum += ToSeconds(wait);
  }
  EXPECT_EQ(waits.size(), 1000U);
  EXPECT_NEAR(sum / 1000, 0.75, 0.02);  // Uniform in [0.5, 1): a standard error of 0.005.
}

}  // namespace
}  // namespace tributary::inline protocol
