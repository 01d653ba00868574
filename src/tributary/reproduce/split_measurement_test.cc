#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "tributary/device/setting.h"
#include "tributary/reproduce/run_measurement.h"

namespace tributary::inline reproduce {
namespace {

Group Devices(const std::string& name, std::int64_t count, double setup) {
  Group group;
  group.name = name;
  group.count = count;
  group.compute = Distribution::Constant(1e13);
  group.uplink = group.downlink = Distribution::Constant(10e9);
  group.setup = Distribution::Constant(setup);
  return group;
}

// Eight devices of two classes each, of which two answer ten times more slowly.
Experiment Small(SamplingMethod method) {
  Experiment experiment;
  experiment.goal.name = "small";
  experiment.model.name = "lenet5";
  experiment.data.set = "glyphs";
  experiment.data.split.kind = "extended-dirichlet";
  experiment.data.split.alpha = 3;
  experiment.data.split.classes_per_device = 2;
  experiment.data.train_limit = 400;
  experiment.data.test_limit = 50;
  experiment.fleet.servers = {Server{{1e12}, {1e12}}};
  experiment.fleet.groups = {Devices("steady", 6, 0.1), Devices("slow", 2, 1)};
  experiment.train.method = Method::kSplit;
  experiment.train.batch = 32;
  experiment.train.schedule.name = "constant";
  experiment.train.schedule.learning_rate = 0.05;
  experiment.split.cut = "pool1";
  experiment.split.server_compute = {1e13};
  experiment.sampling.method = method;
  return experiment;
}

std::map<std::string, double> Numbers(const SplitArm& arm) {
  const auto measurement = MeasureSplit(arm, 3, *MakeRealClock(), {.threads = 2});
  EXPECT_TRUE(measurement.ok()) << measurement.status();
  return measurement->numbers;
}

TEST(SplitMeasurement, IsOfWholeEpochs) {
  const SplitArm arm{Small(SamplingMethod::kEqual), 4, 4, {}};
  const auto measurement = MeasureSplit(arm, 3, *MakeRealClock(), {.threads = 2});
  ASSERT_TRUE(measurement.ok()) << measurement.status();
  auto numbers = measurement->numbers;
  // Four of each device in a step, until the one with most has none left.
  Experiment experiment = arm.experiment;
  experiment.goal.seed = 3;
  const TrainTest data = LoadExperimentData(experiment, {}).value();
  std::size_t most = 0, most_of_slow = 0;
  const std::vector<LocalData> devices = DealOut(experiment, data.train).value();
  for (std::size_t i = 0; i < devices.size(); ++i) {
    most = std::max(most, devices[i].training.size());
    if (i >= 6) most_of_slow = std::max(most_of_slow, devices[i].training.size());
  }
  const auto steps = [](std::size_t samples) { return static_cast<double>((samples + 3) / 4); };
  EXPECT_EQ(numbers["steps"], steps(most));
  // Four messages of a second while a slow one takes part, and of a tenth from then on.
  const double seconds = 4 * steps(most_of_slow) + 0.4 * (steps(most) - steps(most_of_slow));
  EXPECT_NEAR(numbers["planned seconds"], seconds, 0.01 * seconds);
  EXPECT_NEAR(numbers["seconds per epoch"], seconds, 0.02 * seconds);
  // Evaluated at the end of each; the first does not count.
  ASSERT_EQ(measurement->curve.size(), 4U);
  EXPECT_NEAR(measurement->curve[0].x, measurement->curve[3].x / 4, 0.01 * seconds);
  EXPECT_DOUBLE_EQ(numbers["accuracy"],
                   (measurement->curve[1].y + measurement->curve[2].y + measurement->curve[3].y) / 3);
  EXPECT_GT(numbers["planning share"], 0);
  EXPECT_LT(numbers["planning share"], 0.5);
}

TEST(SplitMeasurement, OfAllSamplesInOnePlaceHasNoDeviation) {
  SplitArm arm{Small(SamplingMethod::kUniformGlobal), 1, 0, {}};
  arm.experiment.data.split.kind = "iid";
  arm.experiment.fleet.groups = {Devices("centre", 1, 0.1)};
  const auto numbers = Numbers(arm);
  EXPECT_EQ(numbers.at("steps"), 13);  // 400 samples in batches of 32
  EXPECT_NEAR(numbers.at("deviation"), 0, 1e-9);
  EXPECT_NEAR(numbers.at("planned seconds"), 13 * 0.4, 0.05);
}

TEST(SplitMeasurement, OfAPlanNeedsNoRunAndOfOneEpochHasNoAccuracy) {
  const auto planned = Numbers({Small(SamplingMethod::kUniformGlobal), 3, 0, {}});
  EXPECT_FALSE(planned.contains("seconds per epoch"));
  EXPECT_FALSE(planned.contains("accuracy"));
  EXPECT_NEAR(planned.at("planned seconds"), 13 * 4, 1);  // A slow device is in every step.
  const auto timed = Numbers({Small(SamplingMethod::kUniformGlobal), 3, 1, {}});
  EXPECT_TRUE(timed.contains("seconds per epoch"));
  EXPECT_FALSE(timed.contains("accuracy"));
}

TEST(SplitMeasurement, KeepsWithinTheDeviationOfAnother) {
  const SamplingOptions latent{.method = SamplingMethod::kLatentDirichlet, .delta = 2, .max_deviation = {}};
  SplitArm arm{Small(SamplingMethod::kLatentDirichlet), 2, 0, {}};
  arm.experiment.sampling = latent;
  const auto of_latent = Numbers(arm);
  const auto within = Numbers({Small(SamplingMethod::kDeadline), 2, 0, latent});
  EXPECT_LE(within.at("deviation"), of_latent.at("deviation") + 1e-9);
  EXPECT_LE(within.at("planned seconds"), 1.001 * of_latent.at("planned seconds"));
  // Without the bound of another it has that of uniform sampling and a tenth more, which takes longer.
  const auto own = Numbers({Small(SamplingMethod::kDeadline), 2, 0, {}});
  EXPECT_GT(own.at("planned seconds"), within.at("planned seconds"));
}

}  // namespace
}  // namespace tributary::inline reproduce
