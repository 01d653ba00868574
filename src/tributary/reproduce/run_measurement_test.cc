#include "tributary/reproduce/run_measurement.h"

#include <gtest/gtest.h>

#include <set>

#include "tributary/experiment/presets.h"
#include "tributary/reproduce/study.h"

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

TEST(MeasureRun, OfARunThatDivergesSaysWhatItWasUntilThen) {
  Experiment hopeless = Small(1e9);
  hopeless.goal.rounds = 200;
  hopeless.trust.divergence = 0;
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
  EXPECT_EQ(one.numbers.at("limited updates"), 0);
  // Studies may show these numbers, and no others.
  std::set<std::string> names;
  for (const auto& [name, value] : one.numbers) names.insert(name);
  EXPECT_EQ(names, std::set<std::string>(NumbersOfRuns().begin(), NumbersOfRuns().end()));
}

}  // namespace
}  // namespace tributary::inline reproduce
