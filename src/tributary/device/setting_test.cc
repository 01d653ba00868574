#include "tributary/device/setting.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tributary/data/load.h"
#include "tributary/experiment/presets.h"

namespace tributary::inline device {
namespace {

Experiment SmokeWith(const std::vector<std::string>& settings) {
  return FindExperiment("smoke", settings).value();
}

std::vector<std::uint32_t> All(const std::vector<LocalData>& devices) {
  std::vector<std::uint32_t> all;
  for (const LocalData& device : devices) {
    all.insert(all.end(), device.training.begin(), device.training.end());
    all.insert(all.end(), device.held_out.begin(), device.held_out.end());
  }
  std::ranges::sort(all);
  return all;
}

TEST(DealOut, NoDeviceGetsTheSamplesOfTheCoordinator) {
  const Experiment trusted =
      SmokeWith({"aggregation.rule=trusted", "aggregation.trusted-samples=40", "data.hold-out=0.2"});
  const TrainTest data = LoadExperimentData(trusted, {}).value();
  const std::vector<std::uint32_t> own = CoordinatorSamples(trusted, data.train).value().training;
  ASSERT_EQ(own.size(), 40U);
  std::vector<std::uint32_t> all = All(DealOut(trusted, data.train).value());
  all.insert(all.end(), own.begin(), own.end());
  std::ranges::sort(all);
  EXPECT_EQ(all, SampleRange(0, data.train.size()));  // every sample once
  EXPECT_NE(own, CoordinatorSamples(SmokeWith({"aggregation.rule=trusted", "aggregation.trusted-samples=40",
                                               "experiment.seed=2"}),
                                    data.train)
                     .value()
                     .training);
}

TEST(DealOut, OtherRulesKeepNothingBack) {
  const Experiment mean = SmokeWith({});
  const TrainTest data = LoadExperimentData(mean, {}).value();
  EXPECT_TRUE(CoordinatorSamples(mean, data.train).value().training.empty());
  EXPECT_EQ(All(DealOut(mean, data.train).value()), SampleRange(0, data.train.size()));
}

TEST(DealOut, SomeSamplesMustBeLeftForDevices) {
  const Experiment greedy = SmokeWith({"aggregation.rule=trusted", "aggregation.trusted-samples=300"});
  const TrainTest data = LoadExperimentData(greedy, {}).value();
  EXPECT_EQ(DealOut(greedy, data.train).status().message(),
            "aggregation.trusted-samples is 300, but " + data.train.name() +
                " has 300 training samples, of which devices need some; use fewer");
}

}  // namespace
}  // namespace tributary::inline device
