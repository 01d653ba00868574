// Devices that train what they can afford, simulated from end to end.

#include <gtest/gtest.h>

#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/presets.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/dropout/testing_front.h"
#include "tributary/telemetry/sink.h"

namespace tributary::inline coordinator {
namespace {

class Collected : public EventSink {
 public:
  void Write(const Event& event) override {
    if (const auto* device = std::get_if<DeviceFinished>(&event.what)) devices.push_back(*device);
    if (const auto* round = std::get_if<RoundFinished>(&event.what)) rounds.push_back(*round);
  }
  std::vector<DeviceFinished> devices;
  std::vector<RoundFinished> rounds;
};

// Eight devices on a small set of glyphs; some are slow, and what they have changes within a round.
Experiment Unequal(const std::string& method, std::vector<std::string> overrides = {}) {
  for (const char* one : {"fleet.group=[{name=\"fast\", count=4, compute=\"1G\", uplink=\"100Mbit/s\"},"
                          "{name=\"slow\", count=4, compute=\"800M\", uplink=\"50Mbit/s\","
                          " availability={kind=\"steps\", period=\"60ms\", low=0.3, high=1}}]",
                          "model.name=resnet8", "train.local-steps=4", "train.batch=8", "experiment.rounds=2",
                          "data.train-limit=400", "data.test-limit=20"}) {
    overrides.insert(overrides.begin(), one);
  }
  overrides.push_back("dropout.method=" + method);
  auto experiment = FindExperiment("smoke", overrides);
  EXPECT_TRUE(experiment.ok()) << experiment.status();
  return std::move(experiment).value();
}

Experiment Choosing(const std::string& method, const std::string& deadline,
                    std::vector<std::string> overrides = {}) {
  overrides.push_back("fleet.deadline=" + deadline);
  if (method != "pareto") return Unequal(method, std::move(overrides));
  Experiment experiment = Unequal("heterofl", std::move(overrides));
  const Model model(BuildZooGraph({"resnet8", Shape{1, 28, 28}, 10}).value());
  experiment.dropout.method = SubnetworkRuleNamed("pareto");
  experiment.dropout.front = testing::FrontFor(model, {0.95, 0.8, 0.6, 0.4, 0.2});
  return experiment;
}

FinishedRun RunIt(const Experiment& experiment, Collected* collected = nullptr, std::size_t threads = 2) {
  auto result = Simulate(experiment, {.threads = threads, .watcher = collected});
  EXPECT_TRUE(result.ok()) << result.status();
  return std::move(result).value();
}

TEST(SimulateDropout, WhereEverythingFitsEverythingIsTrainedAndTheResultIsThatOfNoDropout) {
  const FinishedRun full = RunIt(Unequal("full", {"fleet.deadline=10min"}));
  for (const char* method : {"uniform", "heterofl", "fedrolex", "pareto"}) {
    Collected collected;
    const FinishedRun run = RunIt(Choosing(method, "10min"), &collected);
    EXPECT_EQ(run.run.accuracy, full.run.accuracy) << method;
    for (const DeviceFinished& device : collected.devices) EXPECT_EQ(device.trained_share, 1.0) << method;
    EXPECT_NEAR(ToSeconds(run.time), ToSeconds(full.time), 1e-6);
  }
}

TEST(SimulateDropout, ParetoMissesNoDeadlineThatSomethingFitsIntoAndUsesTheTime) {
  Collected collected;
  const FinishedRun run = RunIt(Choosing("pareto", "1100ms"), &collected);
  std::size_t partial = 0;
  double slow_share = 0;  // of the deadline, in which slow devices computed
  for (const DeviceFinished& device : collected.devices) {
    EXPECT_EQ(device.outcome, Outcome::kApplied);
    ASSERT_TRUE(device.trained_share);
    partial += *device.trained_share < 1;
    if (device.device.value >= 4) slow_share += ToSeconds(device.compute) / 1.1 / 8;
  }
  EXPECT_GE(partial, 6U);  // most of the four slow ones in two rounds
  EXPECT_GE(slow_share, 0.7);
  for (const RoundFinished& round : collected.rounds) {
    EXPECT_LE(round.duration, FromSeconds(1.1));
    EXPECT_GE(round.duration, FromSeconds(0.7 * 1.1));
  }
  Collected of_full;
  RunIt(Unequal("full", {"fleet.deadline=1100ms"}), &of_full);
  for (const RoundFinished& round : of_full.rounds) EXPECT_LT(round.applied, 8U);
}

TEST(SimulateDropout, EveryMethodLearnsTheSameOnEveryPoolAndTrainsParts) {
  for (const char* method : {"uniform", "heterofl", "fjord", "fedrolex", "pareto"}) {
    const Experiment experiment = Choosing(method, "1100ms");
    Collected collected;
    const FinishedRun run = RunIt(experiment, &collected, 1);
    EXPECT_EQ(RunIt(experiment, nullptr, 3).digest, run.digest) << method;
    double kept = 0;
    for (const DeviceFinished& device : collected.devices) kept += device.trained_share.value_or(1);
    EXPECT_LT(kept / static_cast<double>(collected.devices.size()), 0.95) << method;
  }
}

TEST(SimulateDropout, GradientsOfPartsAreAveragedToo) {
  for (const char* method : {"uniform", "heterofl", "fjord", "fedrolex"}) {
    Collected collected;
    Experiment experiment = Choosing(method, "300ms");
    experiment.train.method = Method::kSyncSgd;
    RunIt(experiment, &collected);
    EXPECT_EQ(collected.rounds.size(), 2U);
    for (const RoundFinished& round : collected.rounds) EXPECT_GT(round.applied, 4U) << method;
  }
}

TEST(SimulateDropout, ASmallNetworkIsSmallEverywhere) {
  const FinishedRun small = RunIt(Unequal("small", {"dropout.width=0.5"}));
  const FinishedRun full = RunIt(Unequal("full"));
  EXPECT_LT(small.up.value, 0.5 * static_cast<double>(full.up.value));
  EXPECT_LT(ToSeconds(small.time), 0.5 * ToSeconds(full.time));
}

TEST(SimulateDropout, AFrontOfAnotherNetworkIsRefusedInWords) {
  Experiment experiment = Choosing("pareto", "1s");
  experiment.model.name = "cnn";
  const auto result = Simulate(experiment, {.threads = 1});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(result.status().message().find("explored for resnet8"), std::string::npos) << result.status();
}

}  // namespace
}  // namespace tributary::inline coordinator
