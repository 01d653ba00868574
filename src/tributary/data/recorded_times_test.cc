#include "tributary/data/recorded_times.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tributary/base/rng.h"
#include "tributary/data/arrivals.h"
#include "tributary/data/origins.h"
#include "tributary/data/replay_stream.h"

namespace tributary {
namespace {

using namespace std::chrono_literals;

TEST(RecordedTimes, PlaysFasterAndStartsOver) {
  const RecordedTimes times({1s, 2s, 2s, 60s, 80s}, 20);
  EXPECT_EQ(times.Arrived(0s), 0);
  EXPECT_EQ(times.Arrived(49ms), 0);
  EXPECT_EQ(times.Arrived(50ms), 1);
  EXPECT_EQ(times.Arrived(100ms), 3);
  EXPECT_EQ(times.Arrived(2999ms), 3);  // the gap
  EXPECT_EQ(times.Arrived(3s), 4);
  EXPECT_EQ(times.Arrived(4s), 5);
  EXPECT_EQ(times.Arrived(4049ms), 5);
  EXPECT_EQ(times.Arrived(4050ms), 6);
  EXPECT_EQ(times.TimeOf(0), 0ms);
  EXPECT_EQ(times.TimeOf(4), 3s);
  EXPECT_EQ(times.TimeOf(6), 4050ms);
  EXPECT_EQ(times.TimeOf(15), 12s);
}

// The oracle writes every arrival down.
TEST(RecordedTimes, AgreesWithAListOfAllArrivals) {
  Rng rng(7);
  for (int turn = 0; turn < 50; ++turn) {
    std::vector<Duration> recorded;
    Duration now{0};
    for (std::uint64_t i = 0, count = 1 + rng.Below(12); i < count; ++i) {
      recorded.push_back(now += Duration(rng.Below(4) * 250'000'000));
    }
    const double speed = 1 + static_cast<double>(rng.Below(4));
    std::vector<Duration> all;
    const Duration length =
        std::max(Duration(std::llround(static_cast<double>(recorded.back().count()) / speed)), Duration(1ms));
    for (int lap = 0; lap < 4; ++lap) {
      for (const Duration time : recorded) {
        all.push_back(lap * length + Duration(std::llround(static_cast<double>(time.count()) / speed)));
      }
    }
    const RecordedTimes times(recorded, speed);
    for (std::size_t i = 0; i < all.size(); ++i) {
      const auto count = static_cast<std::int64_t>(i + 1);
      EXPECT_NEAR(static_cast<double>(times.TimeOf(count)->count()), static_cast<double>(all[i].count()), 4);
      EXPECT_GE(times.Arrived(*times.TimeOf(count)), count);
      EXPECT_LT(times.Arrived(*times.TimeOf(count) - Duration(1)), count);
    }
  }
}

TEST(RecordedTimes, NeitherHurriesNorWaitsForEver) {
  // All at once: a lap lasts a millisecond at least, so that time passes.
  EXPECT_EQ(RecordedTimes({0s, 0s}, 1).Arrived(10ms), 22);
  EXPECT_EQ(RecordedTimes({1h}, 1e-6).TimeOf(1), std::nullopt);
  EXPECT_EQ(RecordedTimes({1h}, 1).TimeOf(1'000'000), std::nullopt);
}

TEST(Arrivals, AreThoseOfWhatTheyAreMadeFrom) {
  EXPECT_EQ(Arrivals(RecordedTimes({3s}, 1)).Arrived(6s), 2);
  EXPECT_EQ(Arrivals(RecordedTimes({3s}, 1)).TimeOf(2), 6s);
  EXPECT_EQ(Arrivals(RateProgramme::Make({10}).value()).Arrived(6s), 60);
}

TEST(RecordedOrder, IsThatOfTimeAndThenOfTheSamples) {
  const Origins origins{{"a", "b"}, {0, 0, 0, 1, 1}, {1s, 2s, 5s, 1s, 3s}};
  const std::vector<std::uint32_t> samples = {1, 2, 0, 3, 4};
  EXPECT_EQ(RecordedOrder(origins, samples), (std::vector<std::uint32_t>{2, 3, 0, 4, 1}));
}

TEST(ReplayOrder, OfARecordingIsTheSameEachTime) {
  ReplayOrder order({2, 0, 1});
  for (std::int64_t lap = 0; lap < 3; ++lap) {
    EXPECT_EQ(order.At(3 * lap), 2U);
    EXPECT_EQ(order.At(3 * lap + 1), 0U);
    EXPECT_EQ(order.At(3 * lap + 2), 1U);
  }
}

}  // namespace
}  // namespace tributary
