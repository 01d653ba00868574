#include "tributary/data/arrivals.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tributary/base/portable_math.h"
#include "tributary/base/rng.h"
#include "tributary/data/dataset.h"
#include "tributary/data/replay_stream.h"

namespace tributary::inline data {
namespace {

using namespace std::chrono_literals;
using Step = RateProgramme::Step;

RateProgramme Must(double rate, std::vector<Step> steps = {},
                   RateProgramme::After after = RateProgramme::After::kPlain) {
  auto programme = RateProgramme::Make({rate}, std::move(steps), after);
  EXPECT_TRUE(programme.ok()) << programme.status();
  return *programme;
}

const std::vector<Step> kAllForms = {{RateProgramme::Hold{0.5}, 3s},
                                     {RateProgramme::Drift{0.5, 2}, 5s},
                                     {RateProgramme::Sine{0.8, 2500ms}, 7s},
                                     {RateProgramme::Hold{0}, 2s},
                                     {RateProgramme::Burst{6, 300ms, 1100ms}, 6s},
                                     {RateProgramme::Drift{1, 0}, 1s}};

// The factor at a moment, straight from the definitions of the header.
double FactorAt(const RateProgramme& programme, double time) {
  double total = 0;
  for (const Step& step : programme.steps()) total += ToSeconds(step.lasts);
  if (programme.after() == RateProgramme::After::kRepeat) time = std::fmod(time, total);
  for (const Step& step : programme.steps()) {
    const double lasts = ToSeconds(step.lasts);
    if (time >= lasts) {
      time -= lasts;
      continue;
    }
    if (const auto* hold = std::get_if<RateProgramme::Hold>(&step.form)) return hold->factor;
    if (const auto* drift = std::get_if<RateProgramme::Drift>(&step.form)) {
      return drift->from + (drift->to - drift->from) * time / lasts;
    }
    if (const auto* sine = std::get_if<RateProgramme::Sine>(&step.form)) {
      return 1 + sine->amplitude * std::sin(2 * M_PI * time / ToSeconds(sine->period));
    }
    const auto& burst = std::get<RateProgramme::Burst>(step.form);
    return std::fmod(time, ToSeconds(burst.period)) < ToSeconds(burst.on) ? burst.factor : 1;
  }
  return 1;
}

TEST(RateProgramme, ArrivesAsTheNumericalIntegralOfItsRate) {
  for (const auto after : {RateProgramme::After::kPlain, RateProgramme::After::kRepeat}) {
    const RateProgramme programme = Must(37, kAllForms, after);
    constexpr Duration kStep = 100us;
    double integral = 0;
    for (Duration time{0}; time < 60s; time += kStep) {
      integral += 37 * FactorAt(programme, ToSeconds(time + kStep / 2)) * ToSeconds(kStep);
      const auto arrived = static_cast<double>(programme.Arrived(time + kStep));
      // The midpoint rule is off by less than a hundredth of a sample at every jump of the rate.
      ASSERT_LE(arrived, integral + 0.3) << ToSeconds(time);
      ASSERT_GT(arrived, integral - 1.3) << ToSeconds(time);
    }
  }
}

TEST(RateProgramme, BringsTheFirstSampleAfterOnePeriod) {
  const RateProgramme programme = Must(10);
  EXPECT_EQ(programme.Arrived(-5s), 0);
  EXPECT_EQ(programme.Arrived(0s), 0);
  EXPECT_EQ(programme.Arrived(99ms), 0);
  for (int i = 1; i < 1000; ++i) ASSERT_EQ(programme.Arrived(i * 100ms), i);
}

TEST(RateProgramme, KnowsWhenSoManyHaveArrived) {
  const RateProgramme programme = Must(37, kAllForms, RateProgramme::After::kRepeat);
  for (std::int64_t count = 1; count < 3000; count += 7) {
    const auto time = programme.TimeOf(count);
    ASSERT_TRUE(time);
    ASSERT_GE(programme.Arrived(*time), count);
    ASSERT_LT(programme.Arrived(*time - 1ns), count);
  }
  EXPECT_EQ(programme.TimeOf(0), 0s);
}

TEST(RateProgramme, MayStopForEver) {
  const RateProgramme programme =
      Must(10, {{RateProgramme::Hold{1}, 2s}, {RateProgramme::Hold{0}, RateProgramme::kForever}});
  EXPECT_EQ(programme.Arrived(1000h), 20);
  EXPECT_NEAR(ToSeconds(*programme.TimeOf(20)), 2, 1e-6);
  EXPECT_FALSE(programme.TimeOf(21));
  EXPECT_FALSE(Must(0).TimeOf(1));
}

TEST(RateProgramme, NeverDecreases) {
  const RateProgramme programme = Must(1000, kAllForms, RateProgramme::After::kRepeat);
  std::int64_t before = 0;
  for (Duration time{0}; time < 30s; time += 37us) {
    const std::int64_t now = programme.Arrived(time);
    ASSERT_GE(now, before);
    before = now;
  }
}

TEST(RateProgramme, RefusesWhatMakesNoSense) {
  const auto refused = [](std::vector<Step> steps,
                          RateProgramme::After after = RateProgramme::After::kPlain) {
    const auto programme = RateProgramme::Make({1}, std::move(steps), after);
    EXPECT_FALSE(programme.ok());
    return !programme.ok() && programme.status().message().find("step") != std::string::npos;
  };
  EXPECT_TRUE(refused({{RateProgramme::Hold{-1}, 1s}}));
  EXPECT_TRUE(refused({{RateProgramme::Hold{NAN}, 1s}}));
  EXPECT_TRUE(refused({{RateProgramme::Hold{1}, 0s}}));
  EXPECT_TRUE(refused({{RateProgramme::Drift{0, INFINITY}, 1s}}));
  EXPECT_TRUE(refused({{RateProgramme::Drift{0, 1}, RateProgramme::kForever}}));
  EXPECT_TRUE(refused({{RateProgramme::Sine{1.1, 1s}, 1s}}));
  EXPECT_TRUE(refused({{RateProgramme::Sine{1, 0s}, 1s}}));
  EXPECT_TRUE(refused({{RateProgramme::Burst{2, 2s, 1s}, 1s}}));
  EXPECT_TRUE(refused({{RateProgramme::Hold{1}, RateProgramme::kForever}, {RateProgramme::Hold{1}, 1s}}));
  EXPECT_TRUE(refused({{RateProgramme::Hold{1}, RateProgramme::kForever}}, RateProgramme::After::kRepeat));
  EXPECT_TRUE(refused({{RateProgramme::Hold{1}, 24h * 365 * 20}, {RateProgramme::Hold{1}, 24h * 365 * 20}}));
  EXPECT_FALSE(RateProgramme::Make({-1}).ok());
  EXPECT_FALSE(RateProgramme::Make({INFINITY}).ok());
}

TEST(PortableCosine, IsThatOfTheLibrary) {
  for (double turns = -3; turns < 3; turns += 0.0007) {
    ASSERT_NEAR(PortableCosine(turns), std::cos(2 * M_PI * turns), 5e-15) << turns;
  }
  EXPECT_EQ(PortableCosine(0), 1);
  EXPECT_EQ(PortableCosine(0.25), 0);
  EXPECT_EQ(PortableCosine(0.5), -1);
}

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

}  // namespace tributary::inline data
