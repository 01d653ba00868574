#include "tributary/coordinator/run_folder.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tributary/base/file.h"
#include "tributary/experiment/presets.h"
#include "tributary/model/zoo.h"
#include "tributary/telemetry/run_metadata.h"
#include "tributary/telemetry/run_totals.h"

namespace tributary::inline coordinator {
namespace {

using namespace std::chrono_literals;

class RunFolderTest : public testing::Test {
 protected:
  RunFolderTest() {
    std::string name = (std::filesystem::temp_directory_path() / "run_folder.XXXXXX").string();
    parent_ = ::mkdtemp(name.data());
  }
  ~RunFolderTest() override { std::filesystem::remove_all(parent_); }

  // A run that is gone after two rounds, of which the first is in its checkpoint.
  void LeaveARun() {
    auto folder = RunFolder::Create(path(), experiment_);
    ASSERT_TRUE(folder.ok()) << folder.status();
    folder->events().Write({0ns, RunStarted{}});
    SayRound(folder->events(), 1);
    const Checkpoint checkpoint{
        {.round = 1, .elapsed = 5ns}, folder->experiment(), folder->events().bytes(), {{"one", 8}}};
    ASSERT_TRUE(SaveCheckpoint(folder->checkpoints(), checkpoint, {}, 2).ok());
    SayRound(folder->events(), 2);
  }
  static void SayRound(EventSink& sink, std::uint64_t round) {
    sink.Write({1ns, DeviceFinished{.round = {round}, .device = {0}, .compute = 3ns}});
    sink.Write({2ns, RoundFinished{.round = {round}, .applied = 1}});
  }
  std::string Text(const char* name) const {
    const auto bytes = ReadFile(path() / name, Bytes{1 << 20}).value();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  std::filesystem::path path() const { return parent_ / "run"; }

  std::filesystem::path parent_;
  const Experiment experiment_ = FindExperiment("smoke", {}).value();
};

TEST_F(RunFolderTest, GoesOnWithWhatBelongsToTheCheckpoint) {
  LeaveARun();
  ASSERT_TRUE(WriteFileAtomically(path() / ".summary.json.AbCdEf", "half").ok());
  RunTotals totals;
  EventSink* const sinks[] = {&totals};
  auto run = RunFolder::Resume(path(), experiment_, sinks);
  ASSERT_TRUE(run.ok()) << run.status();
  ASSERT_TRUE(run->checkpoint.file);
  EXPECT_EQ(run->checkpoint.file->checkpoint().members, (std::vector<FleetMember>{{"one", 8}}));
  EXPECT_EQ(totals.devices.at(0).applied, 1U);
  EXPECT_EQ(totals.devices.at(0).compute, 3ns);
  EXPECT_EQ(run->folder.events().bytes(), run->checkpoint.file->checkpoint().log_bytes);
  EXPECT_EQ(Text("events.jsonl").size(), run->folder.events().bytes());
  EXPECT_FALSE(std::filesystem::exists(path() / ".summary.json.AbCdEf"));
}

TEST_F(RunFolderTest, IsItsOwnersAlone) {
  const mode_t before = ::umask(0);
  LeaveARun();
  auto run = RunFolder::Resume(path(), experiment_);
  const Model model(BuildZooGraph({"cnn", Shape{1, 28, 28}, 10, Stem::kAuto}).value());
  const std::vector<float> parameters(model.parameters.size), statistics(model.statistics.size);
  const bool written = run.ok() && run->folder.Describe({}).ok() &&
                       run->folder.Finish(model, parameters, statistics, {}, "{}").ok();
  ::umask(before);
  ASSERT_TRUE(written) << run.status();
  EXPECT_EQ(std::filesystem::status(path()).permissions(), std::filesystem::perms(0700));
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(path())) {
    EXPECT_EQ(entry.status().permissions(), std::filesystem::perms(entry.is_directory() ? 0700 : 0600))
        << entry;
    ++files;
  }
  EXPECT_GE(files, 8);
}

TEST_F(RunFolderTest, RefusesASimulatedRunAndLeavesItAlone) {
  LeaveARun();
  ASSERT_TRUE(WriteFileAtomically(path() / "facts.json", FormatRunMetadata({.simulated = true})).ok());
  std::filesystem::remove_all(path() / "checkpoints");
  const std::string log = Text("events.jsonl");
  const Status status = RunFolder::Resume(path(), experiment_).status();
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("is simulated, and a coordinator cannot resume it"), std::string::npos)
      << status;
  EXPECT_EQ(Text("events.jsonl"), log);
}

TEST_F(RunFolderTest, RefusesAFinishedRunThatHasNoCheckpoint) {
  LeaveARun();
  ASSERT_TRUE(WriteFileAtomically(path() / "facts.json", FormatRunMetadata({.simulated = false})).ok());
  ASSERT_TRUE(WriteFileAtomically(path() / "summary.json", "{}").ok());
  EXPECT_TRUE(RunFolder::Resume(path(), experiment_).ok());
  const std::string log = Text("events.jsonl");
  for (const auto& entry : std::filesystem::directory_iterator(path() / "checkpoints"))
    std::filesystem::remove(entry.path());
  EXPECT_NE(RunFolder::Resume(path(), experiment_).status().message().find("is finished"), std::string::npos);
  std::filesystem::remove(path() / "checkpoints");
  EXPECT_NE(RunFolder::Resume(path(), experiment_).status().message().find("is finished"), std::string::npos);
  EXPECT_EQ(Text("events.jsonl"), log);
}

TEST_F(RunFolderTest, WithoutACheckpointStartsOverAndKeepsTheOldLog) {
  LeaveARun();
  const std::string log = Text("events.jsonl");
  std::filesystem::remove_all(path() / "checkpoints");
  auto run = RunFolder::Resume(path(), experiment_);
  ASSERT_TRUE(run.ok()) << run.status();
  EXPECT_FALSE(run->checkpoint.file);
  EXPECT_EQ(Text("events.jsonl"), "");
  EXPECT_EQ(Text("events-1.jsonl"), log);
}

TEST_F(RunFolderTest, RefusesAnotherExperimentAndNamesTheDifference) {
  LeaveARun();
  const std::string log = Text("events.jsonl");
  const auto refusal = [&](const char* change) {
    return RunFolder::Resume(path(), FindExperiment("smoke", std::vector<std::string>{change}).value())
        .status();
  };
  const Status status = refusal("experiment.rounds=77");
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("is 'rounds = 3', now it would be 'rounds = 77'"), std::string::npos)
      << status;
  EXPECT_EQ(refusal("disturbance=[{kind=\"vanish\"}]").code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(Text("events.jsonl"), log);
  // Also where only the checkpoint is of another one.
  ASSERT_TRUE(
      SaveCheckpoint(path() / "checkpoints", {.progress = {.round = 9}, .experiment = "x\n"}, {}, 2).ok());
  EXPECT_NE(RunFolder::Resume(path(), experiment_).status().message().find("line 1 is 'x'"),
            std::string::npos);
  EXPECT_EQ(Text("events.jsonl"), log);
}

TEST_F(RunFolderTest, RefusesALogThatHasLostWhatItHad) {
  LeaveARun();
  std::filesystem::resize_file(path() / "events.jsonl", 40);
  EXPECT_EQ(RunFolder::Resume(path(), experiment_).status().code(), StatusCode::kCorrupt);
  std::filesystem::remove(path() / "events.jsonl");
  EXPECT_EQ(RunFolder::Resume(path(), experiment_).status().code(), StatusCode::kNotFound);
}

TEST_F(RunFolderTest, IsForOneCoordinatorAtATime) {
  {
    auto folder = RunFolder::Create(path(), experiment_);
    ASSERT_TRUE(folder.ok()) << folder.status();
    const auto second = RunFolder::Resume(path(), experiment_);
    EXPECT_EQ(second.status().code(), StatusCode::kUnavailable);
    EXPECT_NE(second.status().message().find("in use by another coordinator"), std::string::npos);
  }
  EXPECT_TRUE(RunFolder::Resume(path(), experiment_).ok());
}

TEST_F(RunFolderTest, IsMadeOnceAndResumedOnlyWhereThereIsARun) {
  EXPECT_EQ(RunFolder::Resume(path(), experiment_).status().code(), StatusCode::kNotFound);
  // What a process leaves that is killed before it has written the experiment.
  std::filesystem::create_directory(path());
  ASSERT_TRUE(WriteFileAtomically(path() / ".lock", "").ok());
  ASSERT_TRUE(WriteFileAtomically(path() / ".experiment.toml.AbCdEf", "half").ok());
  EXPECT_EQ(RunFolder::Resume(path(), experiment_).status().code(), StatusCode::kNotFound);
  EXPECT_TRUE(RunFolder::Create(path(), experiment_).ok());
  EXPECT_FALSE(std::filesystem::exists(path() / ".experiment.toml.AbCdEf"));
  EXPECT_EQ(RunFolder::Create(path(), experiment_).status().code(), StatusCode::kInvalidArgument);
  EXPECT_EQ(RunFolder::Create(path() / "experiment.toml", experiment_).status().code(),
            StatusCode::kInvalidArgument);
}

RunMetadata MetadataOfPreset(const std::string& preset) {
  const Experiment experiment = FindExperiment(preset, {}).value();
  const Model model(BuildZooGraph({"cnn", Shape{1, 28, 28}, 10, Stem::kAuto}).value());
  return MetadataOf(experiment, model, true);
}

TEST(MetadataOf, NameTheMechanismsInUse) {
  EXPECT_EQ(MetadataOfPreset("smoke").mechanisms, std::vector<std::string>{});
  EXPECT_EQ(MetadataOfPreset("distreal").mechanisms, std::vector<std::string>{"dropout"});
  EXPECT_EQ(MetadataOfPreset("rcd-sgd").mechanisms, (std::vector<std::string>{"partition", "gossip"}));
  EXPECT_EQ(MetadataOfPreset("scadles-s1").mechanisms,
            (std::vector<std::string>{"streams", "compression", "transfers"}));
  EXPECT_EQ(MetadataOfPreset("psl-ugs").mechanisms, (std::vector<std::string>{"partition", "split"}));
}

TEST(MetadataOf, HaveTheFrontAsSharesOfTheWholeNetwork) {
  const RunMetadata metadata = MetadataOfPreset("distreal");
  ASSERT_GT(metadata.front.size(), 2u);
  EXPECT_EQ(metadata.front.back().cost, 1);
  EXPECT_GT(metadata.front.front().cost, 0);
  EXPECT_LT(metadata.front.front().cost, 0.3);
  EXPECT_EQ(metadata.deadline, std::chrono::seconds(6));
}

TEST(MetadataOf, KnowWhatAnUpdateTakesUncompressed) {
  const Model model(BuildZooGraph({"cnn", Shape{1, 28, 28}, 10, Stem::kAuto}).value());
  EXPECT_EQ(MetadataOfPreset("smoke").dense_update.value,
            static_cast<std::int64_t>(4 * (model.parameters.size + model.statistics.size)));
}

}  // namespace
}  // namespace tributary::inline coordinator
