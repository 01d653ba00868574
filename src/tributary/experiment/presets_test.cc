#include "tributary/experiment/presets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tributary::inline experiment {
namespace {

TEST(Presets, AllAreReadAndSayWhatTheyAre) {
  ASSERT_FALSE(ListPresets().empty());
  for (const Preset& preset : ListPresets()) {
    const auto experiment = FindExperiment(preset.name);
    ASSERT_TRUE(experiment.ok()) << experiment.status();
    EXPECT_EQ(experiment->goal.name, preset.name);
    EXPECT_EQ(experiment->goal.about, preset.about);
    EXPECT_FALSE(preset.about.empty()) << preset.name;
  }
}

TEST(Presets, AreListedByName) {
  EXPECT_TRUE(std::is_sorted(ListPresets().begin(), ListPresets().end(),
                             [](const Preset& a, const Preset& b) { return a.name < b.name; }));
}

TEST(Presets, ShowcasesTrainOneFleetTwice) {
  for (const char* name : {"default", "split-showcase"}) {
    const auto pair = FindExperimentPair(name);
    ASSERT_TRUE(pair.ok()) << pair.status();
    ASSERT_TRUE(pair->against.has_value()) << name;
    const Experiment &all = pair->experiment, &conventional = *pair->against;
    EXPECT_EQ(conventional.goal.name, all.goal.name + "-conventional");
    EXPECT_EQ(conventional.goal.target_accuracy, all.goal.target_accuracy);
    EXPECT_TRUE(all.goal.target_accuracy.has_value());
    EXPECT_EQ(TotalDevices(conventional.fleet), TotalDevices(all.fleet));
    EXPECT_EQ(conventional.compression.kind, CodecNamed("dense"));
    EXPECT_EQ(conventional.transfers.strategy, TransferStrategy::kSequential);
    EXPECT_EQ(all.transfers.strategy, TransferStrategy::kOptimal);
    EXPECT_NE(all.compression.kind, CodecNamed("dense"));
  }
}

TEST(Presets, HarHasADeviceForEveryPhoneAndWatchOfItsNineteenPeople) {
  const auto experiment = FindExperiment("har");
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_EQ(experiment->data.split.kind, "source");
  ASSERT_EQ(experiment->fleet.groups.size(), 2U);
  for (const Group& group : experiment->fleet.groups) EXPECT_EQ(group.count, 19);
  EXPECT_EQ(experiment->stream.recorded_speed, 20);
  EXPECT_EQ(experiment->stream.batch.rule, BatchRule::kStreamRate);
}

TEST(Presets, OverridesApply) {
  const auto experiment = FindExperiment("smoke", std::vector<std::string>{"experiment.rounds=1"});
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  EXPECT_EQ(experiment->goal.rounds, 1);
}

TEST(Presets, OneThatDoesNotExistIsAnsweredWithTheNearest) {
  const Status status = FindExperiment("smok").status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_TRUE(status.message().starts_with("unknown preset 'smok'; did you mean 'smoke'? Known: ")) << status;
  EXPECT_TRUE(status.message().ends_with(", or the path of an experiment file, ending in .toml")) << status;
}

TEST(Presets, APathIsAFile) {
  EXPECT_EQ(FindExperiment("nowhere.toml").status().code(), StatusCode::kNotFound);
  EXPECT_EQ(FindExperiment("./default").status().code(), StatusCode::kNotFound);
}

}  // namespace
}  // namespace tributary::inline experiment
