#include "tributary/coordinator/simulation.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "tributary/base/file.h"
#include "tributary/experiment/presets.h"
#include "tributary/experiment/reader.h"
#include "tributary/telemetry/event_json.h"

namespace tributary::inline coordinator {
namespace {

Experiment Smoke(const std::vector<std::string>& overrides = {}) {
  return FindExperiment("smoke", overrides).value();
}

FinishedRun Finish(const Experiment& experiment, std::size_t threads = 2) {
  auto result = Simulate(experiment, {.threads = threads});
  EXPECT_TRUE(result.ok()) << result.status();
  return std::move(result).value();
}

TEST(Simulate, GivesTheSameDigestForEveryPoolAndAnotherForAnotherSeed) {
  const std::string digest = Finish(Smoke(), 1).digest;
  EXPECT_EQ(Finish(Smoke(), 2).digest, digest);
  EXPECT_EQ(Finish(Smoke(), 4).digest, digest);
  EXPECT_NE(Finish(Smoke({"experiment.seed=2"})).digest, digest);
}

TEST(Simulate, RobustRulesUnderAttackGiveTheSameDigestForEveryPool) {
  std::set<std::string> digests;
  for (const char* rule : {"mean", "trimmed-mean", "median", "multi-krum", "centred-clipping", "trusted"}) {
    // Five devices: of four, the trimmed mean is the median.
    const Experiment experiment =
        Smoke({std::string("aggregation.rule=") + rule, "model.name=resnet8", "fleet.group.0.count=3",
               "disturbance=[{kind=\"attack\", attack=\"noise\", devices=[1]}]"});
    const std::string digest = Finish(experiment, 1).digest;
    EXPECT_EQ(Finish(experiment, 4).digest, digest) << rule;
    digests.insert(digest);
  }
  EXPECT_EQ(digests.size(), 6U);
}

// strength, then devices.
std::string AttackBy(const std::string& attack, const std::string& more) {
  return "disturbance=[{kind=\"attack\", attack=\"" + attack + "\", strength=" + more + "}]";
}

TEST(Simulate, AttacksGiveTheSameDigestForEveryPool) {
  std::set<std::string> digests;
  for (const char* attack : {"sign-flip", "scale", "noise", "label-shift", "alie", "ipm"}) {
    const Experiment experiment = Smoke({AttackBy(attack, "2, devices=[1, 3]")});
    const std::string digest = Finish(experiment, 1).digest;
    EXPECT_EQ(Finish(experiment, 4).digest, digest) << attack;
    digests.insert(digest);
  }
  EXPECT_EQ(digests.size(), 6U);
}

TEST(Simulate, ADeviceThatColludesAloneKnowsOnlyItsOwnUpdate) {
  const std::string honest = Finish(Smoke()).digest;
  EXPECT_EQ(Finish(Smoke({AttackBy("alie", "3, devices=[1]")})).digest, honest);  // It knows no deviation.
  EXPECT_EQ(Finish(Smoke({AttackBy("ipm", "0.5, devices=[1]")})).digest,
            Finish(Smoke({AttackBy("sign-flip", "0.5, devices=[1]")})).digest);
}

TEST(Simulate, LabelsShiftedAllTheWayRoundAreTheLabels) {
  const std::string honest = Finish(Smoke()).digest;
  EXPECT_EQ(Finish(Smoke({AttackBy("label-shift", "10")})).digest, honest);
  EXPECT_NE(Finish(Smoke({AttackBy("label-shift", "9, devices=[0]")})).digest, honest);
}

TEST(Simulate, DevicesThatColludeSendTheMeanOfWhatTheyHaveLearnt) {
  // If all devices collude and have equal weights, it is as if each had sent minus its own update.
  struct Losses : EventSink {
    void Write(const Event& event) override {
      if (const auto* const evaluated = std::get_if<Evaluated>(&event.what)) all.push_back(evaluated->loss);
    }
    std::vector<double> all;
  };
  const auto losses = [](const char* attack) {
    Losses found;
    EXPECT_TRUE(Simulate(Smoke({AttackBy(attack, "0.05")}), {.threads = 3, .watcher = &found}).ok());
    return found.all;
  };
  const std::vector<double> alone = losses("sign-flip"), together = losses("ipm");
  ASSERT_GE(alone.size(), 3U);
  ASSERT_EQ(together.size(), alone.size());
  for (std::size_t i = 0; i < alone.size(); ++i) EXPECT_NEAR(together[i], alone[i], 1e-4 * alone[i]);
}

TEST(Simulate, LimitsOfTrustThatDoNotActLeaveTheDigestAsItIs) {
  // Unequal devices: a mixture of classes each, and from 1 to 50 times the samples.
  const std::vector<std::string> unequal = {
      "train.local-epochs=1",
      "train.local-steps=", "data.split={kind=\"extended-dirichlet\", alpha=0.3, classes-per-device=4}"};
  const auto with = [&](const std::vector<std::string>& trust) {
    std::vector<std::string> all = unequal;
    all.insert(all.end(), trust.begin(), trust.end());
    return Finish(Smoke(all)).digest;
  };
  EXPECT_EQ(with({}), with({"trust.largest-share=0", "trust.clip=0"}));
  // So that a limit that did act would be seen.
  EXPECT_NE(with({}), with({"trust.largest-share=0.1"}));
}

TEST(Simulate, LeavesAFolderThatTellsTheRun) {
  const auto folder = std::filesystem::path(testing::TempDir()) / ("run_" + std::to_string(::getpid()));
  std::filesystem::remove_all(folder);
  const Experiment experiment = Smoke();
  const auto result = Simulate(experiment, {.threads = 2, .folder = folder});
  ASSERT_TRUE(result.ok()) << result.status();
  for (const char* name :
       {"experiment.toml", "events.jsonl", "rounds.csv", "summary.json", "weights.safetensors"}) {
    EXPECT_TRUE(std::filesystem::exists(folder / name)) << name;
  }
  // The experiment as run gives the same run again.
  const auto again = ReadExperiment(folder / "experiment.toml");
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(Finish(*again).digest, result->digest);
  // A folder that exists is not written over.
  EXPECT_EQ(Simulate(experiment, {.threads = 2, .folder = folder}).status().code(),
            StatusCode::kInvalidArgument);
  std::filesystem::remove_all(folder);
}

TEST(Simulate, ChargesTheModelThatAnotherStandsFor) {
  const FinishedRun cnn = Finish(Smoke());
  const FinishedRun as_resnet18 = Finish(Smoke({"model.compute-as=resnet18"}));
  EXPECT_GT(as_resnet18.time, 10 * cnn.time);
  EXPECT_GT(as_resnet18.up.value, 10 * cnn.up.value);
  EXPECT_EQ(as_resnet18.run.accuracy, cnn.run.accuracy);  // what is learnt stays
}

TEST(Simulate, ADeviceAHundredTimesSlowerHoldsUpEveryRoundUnlessThereIsADeadline) {
  const std::vector<std::string> slow = {"disturbance=[{kind=\"slow\", devices=[0], factor=100}]"};
  const FinishedRun even = Finish(Smoke());
  const FinishedRun held_up = Finish(Smoke(slow));
  EXPECT_GT(held_up.time, 10 * even.time);
  EXPECT_EQ(held_up.devices[0].applied, 3U);
  std::vector<std::string> with_deadline = slow;
  with_deadline.push_back("fleet.deadline=\"10s\"");
  const FinishedRun in_time = Finish(Smoke(with_deadline));
  EXPECT_EQ(in_time.time, FromSeconds(30));
  EXPECT_EQ(in_time.devices[0].applied, 0U);
  EXPECT_EQ(in_time.devices[0].missed, 3U);
  EXPECT_EQ(in_time.devices[1].applied, 3U);
}

TEST(Simulate, EveryDevicesTimeAddsUpToTheRunWhateverHappensToIt) {
  for (const char* kind : {"vanish", "crash-in-upload", "lose", "corrupt", "slow"}) {
    const std::string disturbance = std::string("disturbance=[{kind=\"") + kind +
                                    "\", devices=[0, 2], share=0.5" +
                                    (std::string(kind) == "slow" ? ", factor=50" : "") + "}]";
    const FinishedRun result = Finish(Smoke(
        {disturbance, "fleet.deadline=\"6s\"", "fleet.group.fast.stream-rate=30", "experiment.rounds=5"}));
    for (const DeviceTotals& device : result.devices) {
      EXPECT_EQ(device.compute + device.transfer() + device.wait, result.time) << kind;
      EXPECT_EQ(device.applied + device.missed, 5U);
    }
  }
}

TEST(Simulate, AStreamIsWaitedFor) {
  // 4 steps of 16 samples a round at 8 samples a second: eight seconds a round, and no less.
  const FinishedRun streaming =
      Finish(Smoke({"fleet.group.slow.stream-rate=8", "fleet.group.fast.stream-rate=1000"}));
  EXPECT_GE(streaming.time, FromSeconds(24));
  EXPECT_LT(streaming.time, FromSeconds(24) + Finish(Smoke()).time);
}

// Recordings of two training people and a test person. Windows of 100 rows every 25: at 10 ms a row the first is
// complete after 0.99 s, and one more every 0.25 s; the second person's sensor reads half as often.
std::filesystem::path MakeRecordings() {
  const auto folder =
      std::filesystem::path(testing::TempDir()) / ("recordings_" + std::to_string(::getpid()));
  for (int person = 0; person < 3; ++person) {
    std::string text = "x,y,timestamp,label\n";
    for (int row = 0; row < 1200; ++row) {
      const bool moves = row / 300 % 2 == 1;
      text += std::to_string(moves ? row % 7 - 3 : 0) + ",1," +
              std::to_string((person == 1 ? 20 : 10) * row) + (moves ? ",walk\n" : ",sit\n");
    }
    const auto inner = folder / ("p" + std::to_string(person));
    std::filesystem::create_directories(inner);
    EXPECT_TRUE(WriteFileAtomically(inner / "1.csv", text).ok());
  }
  return folder;
}

TEST(Simulate, RecordingsArriveWhenTheyWereRecorded) {
  const auto folder = MakeRecordings();
  const auto run = [&](const std::string& speed) {
    const std::string text =
        "schema = 1\n[experiment]\nname = \"recorded\"\nrounds = 4\n[model]\nname = \"har-cnn\"\n[data]\nset "
        "= \"" +
        folder.string() + "/\"\nsplit = \"source\"\n[[fleet.group]]\ncount = 2\ncompute = 1e12\n" +
        "uplink = 1e12\n[train]\nmethod = \"sync-sgd\"\nbatch = 8\nlearning-rate = 0.05\n" +
        "[stream]\nrecorded-speed = " + speed + "\n";
    const auto experiment = ReadExperimentText(text, {"e.toml", {}});
    EXPECT_TRUE(experiment.ok()) << experiment.status();
    return Finish(*experiment);
  };
  // 32 windows of the slower one: 31 more after the first, of which those that turn between sitting and walking are
  // left out. 100 rows that begin at 25 k have 60 of one label unless 225 < 25 k mod 300 < 265: every twelfth.
  int windows = 0, begun = 0;
  while (windows < 32) windows += (25 * begun++ % 300) != 250 ? 1 : 0;
  const double slowest = 0.020 * (25 * (begun - 1) + 99);
  EXPECT_NEAR(ToSeconds(run("1").time), slowest, 0.01);
  EXPECT_NEAR(ToSeconds(run("10").time), slowest / 10, 0.01);
  std::filesystem::remove_all(folder);
}

TEST(Simulate, RefusesToPlayWhatWasNotRecorded) {
  const Status status = Simulate(Smoke({"stream.recorded-speed=2"}), {.threads = 1}).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("glyphs does not have"), std::string::npos) << status;
}

TEST(Simulate, DevicesEvaluateAndCalibrateOnTheirOwnData) {
  class Wheres : public EventSink {
   public:
    void Write(const Event& event) override {
      if (const auto* evaluated = std::get_if<Evaluated>(&event.what)) {
        ++(evaluated->where == EvaluatedWhere::kDevices ? devices : central);
        if (evaluated->where == EvaluatedWhere::kDevices) held_out = evaluated->samples;
      }
    }
    int devices = 0;
    int central = 0;
    std::uint64_t held_out = 0;
  };
  const Experiment plain = Smoke({"model.name=resnet8", "data.hold-out=0.2"});
  Wheres wheres;
  const auto result = Simulate(plain, {.threads = 2, .watcher = &wheres});
  ASSERT_TRUE(result.ok()) << result.status();
  EXPECT_EQ(wheres.devices, 3);
  EXPECT_EQ(wheres.central, 3);
  EXPECT_EQ(wheres.held_out, 60U);  // a fifth of each device's 75
  // Calibrated statistics are others, and do not depend on the threads either.
  const Experiment calibrated = Smoke({"model.name=resnet8", "data.hold-out=0.2", "train.calibrate=2"});
  const std::string digest = Finish(calibrated, 1).digest;
  EXPECT_NE(digest, result->digest);
  EXPECT_EQ(Finish(calibrated, 4).digest, digest);
}

TEST(Simulate, RefusesADeviceWithTooLittleMemory) {
  const auto result = Simulate(Smoke({"fleet.group.slow.memory=\"1MB\""}), {.threads = 1});
  ASSERT_FALSE(result.ok());
  EXPECT_NE(
      result.status().message().find("device 0 of group 'slow' has 1.00 MB of memory, but training cnn"),
      std::string::npos)
      << result.status();
}

}  // namespace
}  // namespace tributary::inline coordinator
