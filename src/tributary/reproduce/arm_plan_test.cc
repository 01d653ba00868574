#include "tributary/reproduce/arm_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tributary/experiment/presets.h"

namespace tributary::inline reproduce {
namespace {

using Shape = RateSetting::Shape;
constexpr RateSetting kSettings[] = {{Shape::kUniform, 38, 24, 12},
                                     {Shape::kUniform, 300, 112, 12},
                                     {Shape::kNormal, 64, 24, 12},
                                     {Shape::kNormal, 256, 28, 12}};

TEST(StreamRates, OfThePresetsAreTheQuantilesOfTheirDistributions) {
  const char* const presets[] = {"ddl-s1", "ddl-s2", "ddl-s1p", "ddl-s2p"};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto rates = FindExperiment(presets[i])->fleet.groups[0].stream_rate.numbers;
    ASSERT_EQ(rates.size(), 16U);
    for (std::size_t k = 0; k < 16; ++k) {
      EXPECT_EQ(rates[k], RateAt(kSettings[i], (static_cast<double>(k) + 0.5) / 16)) << presets[i];
    }
  }
  // By hand: 300 ± √3 · 112 · (15/16); 64 ± 24 · 1.8627, where the normal distribution function is 1/32.
  EXPECT_EQ(RateAt(kSettings[1], 1.0 / 32), 118.1);
  EXPECT_EQ(RateAt(kSettings[2], 31.0 / 32), 108.7);
  EXPECT_EQ(RateAt(kSettings[0], 1.0 / 32), 12);  // raised
}

TEST(StreamRates, DrawsHaveTheGivenMeanAndDeviation) {
  for (const RateSetting& setting : kSettings) {
    if (setting.mean == 38) continue;  // Many of these are raised.
    const auto rates = DrawnRates(setting, 20'000, 3);
    const double mean = std::accumulate(rates.begin(), rates.end(), 0.0) / 20'000;
    double squares = 0;
    for (const double rate : rates) squares += (rate - mean) * (rate - mean);
    EXPECT_NEAR(mean, setting.mean, 5 * setting.deviation / std::sqrt(20'000.0));
    EXPECT_NEAR(std::sqrt(squares / 20'000), setting.deviation, 0.03 * setting.deviation);
  }
  EXPECT_EQ(DrawnRates(kSettings[0], 16, 2), DrawnRates(kSettings[0], 16, 2));
  EXPECT_NE(DrawnRates(kSettings[0], 16, 2), DrawnRates(kSettings[0], 16, 3));
}

TEST(SetLength, CountsTheSamplesOfARound) {
  Experiment experiment = FindExperiment("ddl-s1").value();
  ASSERT_TRUE(SetLength(experiment, 100'000, 6000).ok());
  EXPECT_EQ(experiment.goal.rounds, 98);  // 16 · 64 in a round
  EXPECT_EQ(experiment.goal.evaluate_every, 6);
  // Two rates dealt to five devices in turn: 10, 20, 10, 20 and 10 samples in a second.
  experiment.stream.batch.rule = BatchRule::kStreamRate;
  experiment.fleet.groups[0].stream_rate.numbers = {10, 20};
  experiment.fleet.groups[0].count = 5;
  ASSERT_TRUE(SetLength(experiment, 700, 20).ok());
  EXPECT_EQ(experiment.goal.rounds, 10);
  EXPECT_EQ(experiment.goal.evaluate_every, 1);
}

TEST(SetLength, RefusesWhatItCannotCount) {
  Experiment drawn =
      FindExperiment("ddl-s1", std::vector<std::string>{"fleet.group.0.stream-rate=uniform(1,2)"}).value();
  EXPECT_NE(SetLength(drawn, 1000, 10).message().find("'devices' are drawn"), std::string::npos);
  Experiment federated = FindExperiment("fedavg").value();
  EXPECT_NE(SetLength(federated, 1000, 10).message().find("sync-sgd"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline reproduce
