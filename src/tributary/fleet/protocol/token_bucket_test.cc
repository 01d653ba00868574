#include "tributary/fleet/protocol/token_bucket.h"

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace tributary::inline protocol
