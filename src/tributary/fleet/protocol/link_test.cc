#include "tributary/fleet/protocol/link.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "tributary/base/rng.h"

namespace tributary::inline protocol {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr BitsPerSecond kRate{8e6};  // a megabyte a second

TEST(TokenBucket, TakesTheTimeOfTheBytesAtItsRate) {
  TokenBucket bucket(kRate, Bytes{0});
  EXPECT_EQ(bucket.Pass(Bytes{500'000}, seconds(10)), seconds(10) + milliseconds(500));
}

TEST(TokenBucket, QueuesWhatComesTooFast) {
  TokenBucket bucket(kRate, Bytes{0});
  EXPECT_EQ(bucket.Pass(Bytes{100'000}, seconds(0)), milliseconds(100));
  EXPECT_EQ(bucket.Pass(Bytes{100'000}, milliseconds(1)), milliseconds(200));
  EXPECT_EQ(bucket.Pass(Bytes{100'000}, milliseconds(150)), milliseconds(300));
}

TEST(TokenBucket, SavesUpNoMoreThanABurstWhileIdle) {
  TokenBucket bucket(kRate, Bytes{10'000});
  EXPECT_EQ(bucket.Pass(Bytes{10'000}, seconds(1)), seconds(1));
  EXPECT_EQ(bucket.Pass(Bytes{5'000}, seconds(1)), seconds(1) + milliseconds(5));
  EXPECT_EQ(bucket.Pass(Bytes{30'000}, seconds(100)), seconds(100) + milliseconds(20));
}

TEST(TokenBucket, TinyMessagesNeedNotWait) {
  TokenBucket bucket(kRate, Bytes{4'096});
  for (int i = 0; i < 100; ++i) EXPECT_EQ(bucket.Pass(Bytes{100}, seconds(i)), seconds(i));
}

// Whatever the sizes: a sender that waits as it is told moves, over a long time, what the rate allows.
TEST(TokenBucket, KeepsTheRateOverMessagesOfAnySize) {
  Rng rng(1);
  TokenBucket bucket(kRate, Bytes{4'096});
  VirtualClock clock;
  std::int64_t sent = 0;
  while (clock.Now() < seconds(100)) {
    const auto size = static_cast<std::int64_t>(1 + rng.Below(300'000));
    clock.AdvanceTo(bucket.Pass(Bytes{size}, clock.Now()));
    sent += size;
  }
  const double allowed = kRate.value / 8 * ToSeconds(clock.Now());
  EXPECT_LE(static_cast<double>(sent), allowed + 4'096);
  EXPECT_GE(static_cast<double>(sent), allowed - 1);
}

// A link of these rates in bytes a second, and what was sent over it.
struct Link {
  double up, down;
  Duration round_trip;
  std::size_t sent = 0;

  LinkProbe probe() {
    return [this](std::size_t bytes_up, std::size_t bytes_down) -> StatusOr<Duration> {
      EXPECT_LE(std::max(bytes_up, bytes_down), kLargestProbe);
      sent += bytes_up + bytes_down;
      return round_trip +
             FromSeconds(static_cast<double>(bytes_up) / up + static_cast<double>(bytes_down) / down);
    };
  }
};

TEST(LinkProbe, FindsTheRatesOfALink) {
  for (const double rate : {1e5, 1e6, 2e7}) {
    Link link{rate, 3 * rate, std::chrono::milliseconds(20)};
    Ready ready;
    ASSERT_TRUE(MeasureLink(link.probe(), ready).ok());
    EXPECT_NEAR(ready.up_bits_per_second, 8 * rate, 0.01 * rate) << rate;
    EXPECT_NEAR(ready.down_bits_per_second, 24 * rate, 0.01 * rate) << rate;
    EXPECT_DOUBLE_EQ(ready.round_trip_seconds, 0.02);
  }
}

TEST(LinkProbe, KeepsASlowLinkBusyForAShortTimeOnly) {
  Link link{1e5, 1e5, std::chrono::milliseconds(1)};
  Ready ready;
  ASSERT_TRUE(MeasureLink(link.probe(), ready).ok());
  EXPECT_LE(link.sent, 2U * (32 << 10));
}

TEST(LinkProbe, TakesNoLinkForOneWithoutEnd) {
  Link link{1e15, 1e15, std::chrono::milliseconds(100)};  // All is noise of the round trip.
  Ready ready;
  ASSERT_TRUE(MeasureLink(link.probe(), ready).ok());
  EXPECT_LE(ready.up_bits_per_second, 8 * static_cast<double>(kLargestProbe) / 0.009);
}

TEST(LinkProbe, EndsWithTheConnection) {
  Ready ready;
  const LinkProbe broken = [](std::size_t, std::size_t) -> StatusOr<Duration> { return Unavailable("gone"); };
  EXPECT_EQ(MeasureLink(broken, ready).message(), "gone");
}

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
