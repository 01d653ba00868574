#include "tributary/reproduce/tuned_runner.h"

#include <gtest/gtest.h>

#include "tributary/experiment/presets.h"

namespace tributary::inline reproduce {
namespace {

// A perceptron that learns a few shapes in seconds.
Experiment Small(double rate) {
  Experiment experiment =
      FindExperiment("ddl-s2p",
                     std::vector<std::string>{"data.train-limit=1000", "data.test-limit=200",
                                              "experiment.rounds=8", "experiment.evaluate-every=1"})
          .value();
  experiment.train.schedule.learning_rate = rate;
  return experiment;
}

TunedRunner::Arms GridAnd(TunedArm arm) {
  TunedRunner::Arms arms;
  for (const double rate : {1e-6, 0.05}) {
    arms["grid-" + std::to_string(rate)] = {Small(rate), TunedArm::Rate::kGrid, {}, false, true};
  }
  arms["other"] = std::move(arm);
  return arms;
}

TEST(TunedRunner, TakesTheRateOfTheGridThatGetsThereFirst) {
  TunedRunner runner(GridAnd({Small(1), TunedArm::Rate::kBest, {}, true, false}), {0.15, 1}, {.threads = 2});
  const auto best = runner.BestRate();
  ASSERT_TRUE(best.ok()) << best.status();
  EXPECT_EQ(*best, 0.05);  // the other does not move
  const auto other = runner.Run("other", 1);
  ASSERT_TRUE(other.ok()) << other.status();
  EXPECT_EQ(other->numbers, runner.Run("grid-0.050000", 1)->numbers);
  EXPECT_EQ(other->curve.size(), 8U);
  EXPECT_TRUE(runner.Run("grid-0.050000", 1)->curve.empty());
  EXPECT_TRUE(runner.Run("grid-0.050000", 2)->numbers.empty());
  EXPECT_NE(runner.Run("other", 2)->numbers, other->numbers);
}

TEST(TunedRunner, WhereNoneGetsThereTheFurthestIsTaken) {
  TunedRunner runner(GridAnd({Small(1), TunedArm::Rate::kBest, {}, false, false}), {0.999, 1},
                     {.threads = 2});
  EXPECT_EQ(*runner.BestRate(), 0.05);
}

TEST(TunedRunner, LeavesAnArmItsOwnRateAndVariesItBySeed) {
  const auto vary = [](Experiment& experiment, std::uint64_t seed) {
    experiment.goal.rounds = static_cast<std::int64_t>(seed);
  };
  TunedRunner runner(GridAnd({Small(1e-6), TunedArm::Rate::kOwn, vary, true, false}), {0.5, 1},
                     {.threads = 2});
  const auto other = runner.Run("other", 3);
  ASSERT_TRUE(other.ok()) << other.status();
  ASSERT_EQ(other->curve.size(), 3U);
  EXPECT_NEAR(other->curve.front().y, other->curve.back().y, 0.02);
}

TEST(MeasureRun, OfARunThatDivergesSaysWhatItWasUntilThen) {
  Experiment hopeless = Small(1e9);
  hopeless.goal.rounds = 200;
  const auto measurement = MeasureRun(hopeless, {0.5, 1}, {.threads = 2});
  ASSERT_TRUE(measurement.ok()) << measurement.status();
  EXPECT_FALSE(measurement->numbers.contains("virtual seconds"));
  EXPECT_FALSE(measurement->numbers.contains("time to target"));
  EXPECT_TRUE(measurement->numbers.contains("final accuracy"));
  EXPECT_LT(measurement->curve.size(), 200U);
}

TEST(MeasureRun, SaysWhenTheMeanOfSeveralEvaluationsIsThere) {
  const SimulationOptions options{.threads = 2};
  const Measurement one = MeasureRun(Small(0.05), {0.15, 1}, options).value();
  const Measurement four = MeasureRun(Small(0.05), {0.15, 4}, options).value();
  ASSERT_EQ(one.curve.size(), four.curve.size());
  std::optional<double> first, mean;
  for (std::size_t i = 0; i < one.curve.size(); ++i) {
    if (!first && one.curve[i].y >= 0.15) first = one.curve[i].x;
    if (i < 3 || mean) continue;
    double sum = 0;
    for (std::size_t j = i - 3; j <= i; ++j) sum += one.curve[j].y;
    if (sum / 4 >= 0.15) mean = one.curve[i].x;
  }
  ASSERT_TRUE(first && mean);
  EXPECT_EQ(one.numbers.at("time to target"), *first);
  EXPECT_EQ(four.numbers.at("time to target"), *mean);
  EXPECT_GE(*mean, *first);
  // Conventional training sends everything, and what it does not use piles up: 256 samples a second of 16 devices, of
  // which 64 are used in a step of 1.2 s.
  EXPECT_EQ(one.numbers.at("compressed steps"), 0);
  EXPECT_NEAR(one.numbers.at("megabytes per update"), 233, 1);
  EXPECT_NEAR(one.numbers.at("buffered samples"), one.numbers.at("virtual seconds") * 256 * 16 - 8 * 1024,
              100);
  EXPECT_EQ(one.numbers.at("kilobytes injected"), 0);
}

}  // namespace
}  // namespace tributary::inline reproduce
