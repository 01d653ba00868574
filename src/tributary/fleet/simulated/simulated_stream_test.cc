#include "tributary/fleet/simulated/simulated_stream.h"

#include <gtest/gtest.h>

#include "tributary/base/rng.h"

namespace tributary::inline simulated {
namespace {

using std::chrono::seconds;

SimulatedStream Stream(double rate, BufferPolicy policy) {
  return SimulatedStream(RateProgramme::Make({rate}).value(), policy);
}

TEST(SimulatedStream, IsWaitedForUntilEnoughHasCome) {
  SimulatedStream stream = Stream(10, BufferPolicy::kPersist);
  EXPECT_NEAR(ToSeconds(*stream.Ready(64)), 6.4, 1e-6);
  EXPECT_EQ(stream.Take(64, FromSeconds(6.4)), 0);
  EXPECT_NEAR(ToSeconds(*stream.Ready(64)), 12.8, 1e-6);
  EXPECT_EQ(Stream(0, BufferPolicy::kPersist).Ready(1), std::nullopt);
}

TEST(SimulatedStream, PersistKeepsAllAndTruncateTheNewest) {
  SimulatedStream all = Stream(100, BufferPolicy::kPersist), newest = Stream(100, BufferPolicy::kTruncate);
  std::int64_t used = 0;
  for (int step = 1; step <= 10; ++step) {
    const TimePoint now = seconds(2 * step);  // 200 come in a step, and 50 are used.
    EXPECT_EQ(all.Take(50, now), used);
    used += 50;
    EXPECT_EQ(newest.Take(50, now), 200 * step - 50);
    EXPECT_EQ(newest.dropped(), 150 * step);
    EXPECT_EQ(all.Buffered(now), 150 * step);
    EXPECT_EQ(newest.Buffered(now), 0);
    EXPECT_EQ(newest.Buffered(now + seconds(100)), 50);
  }
  EXPECT_EQ(all.dropped(), 0);
}

TEST(SimulatedStream, UsesNoSampleTwiceAndAccountsForAll) {
  Rng rng(5);
  for (const BufferPolicy policy : {BufferPolicy::kPersist, BufferPolicy::kTruncate}) {
    SimulatedStream stream = Stream(37, policy);
    TimePoint now{0};
    std::int64_t next = 0, used = 0;
    for (int step = 0; step < 300; ++step) {
      const auto count = static_cast<std::int64_t>(1 + rng.Below(80));
      now = std::max(now + FromSeconds(rng.Uniform() * 3), *stream.Ready(count));
      const std::int64_t first = stream.Take(count, now);
      EXPECT_GE(first, next);
      next = first + count;
      used += count;
      const auto arrived = RateProgramme::Make({37}).value().Arrived(now);
      EXPECT_EQ(used + stream.dropped() + stream.Buffered(now), arrived);
    }
  }
}

TEST(SimulatedStream, MeasuresItsRate) {
  SimulatedStream stream(RateProgramme::Make({50}, {{RateProgramme::Hold{1}, seconds(100)},
                                                    {RateProgramme::Hold{4}, RateProgramme::kForever}})
                             .value(),
                         BufferPolicy::kPersist);
  EXPECT_EQ(stream.rate(), std::nullopt);
  for (int second = 2; second <= 100; second += 2) stream.Observe(seconds(second));
  EXPECT_NEAR(stream.rate()->value, 50, 1);
  for (int second = 102; second <= 160; second += 2) stream.Observe(seconds(second));
  EXPECT_NEAR(stream.rate()->value, 200, 4);
}

}  // namespace
}  // namespace tributary::inline simulated
