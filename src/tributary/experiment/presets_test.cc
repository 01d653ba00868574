#include "tributary/experiment/presets.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tributary {
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

TEST(Presets, TheDefaultIsSmallEnoughForTwoMinutes) {
  const auto experiment = FindExperiment("default");
  ASSERT_TRUE(experiment.ok()) << experiment.status();
  const std::int64_t devices = TotalDevices(experiment->fleet);
  EXPECT_EQ(devices, 8);
  EXPECT_LE(*experiment->goal.rounds * devices * *experiment->train.local_steps * experiment->train.batch,
            150'000);
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
}  // namespace tributary
