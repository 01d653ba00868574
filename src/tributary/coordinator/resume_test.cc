#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "tributary/base/file.h"
#include "tributary/coordinator/run_folder.h"
#include "tributary/coordinator/testing_fleet.h"
#include "tributary/telemetry/testing_log.h"

namespace tributary::inline coordinator {
namespace {

constexpr std::uint64_t kRounds = 6;

// Calls `act` with each event's number, from 1.
class Counter : public EventSink {
 public:
  explicit Counter(std::function<void(int)> act) : act_(std::move(act)) {}
  void Write(const Event&) override { act_(++count_); }

 private:
  const std::function<void(int)> act_;
  int count_ = 0;
};

enum class Kind { kSyncSgdMomentum, kSyncSgdAdam, kFederatedAdam };

// A run's folder and how to go on in it: as a program that resumes whenever there is something to resume.
class ResumeTest : public testing::TestWithParam<Kind> {
 protected:
  struct Life {
    CheckpointerOptions checkpoints = {.rounds = 1};
    std::function<bool()> should_stop;
    std::function<void(int)> before_log,
        after_log;  // with the number of the event, of those said in this life
    std::function<void(TestingFleet&)> prepare;
  };
  struct End {
    Status status;
    RunOutcome outcome;
    std::vector<float> weights;
    std::string rounds;
  };

  ResumeTest() {
    std::string name = (std::filesystem::temp_directory_path() / "resume.XXXXXX").string();
    parent_ = ::mkdtemp(name.data());
    experiment_.goal.name = "test";
    experiment_.goal.rounds = kRounds;
    experiment_.goal.evaluate_every = 2;
    experiment_.data.hold_out = 0.5;
    experiment_.train.calibrate = 1;
    switch (GetParam()) {
      case Kind::kSyncSgdMomentum:
        experiment_.train.optimiser.momentum = 0.9;
        break;
      case Kind::kSyncSgdAdam:
        experiment_.train.optimiser.name = "adam";
        break;
      case Kind::kFederatedAdam:
        experiment_.train.local_steps = 1;
        experiment_.train.server_optimiser = {.kind = ServerOptimiserKind::kAdam, .learning_rate = 0.01};
    }
    experiment_.train.method = GetParam() == Kind::kFederatedAdam ? Method::kFederated : Method::kSyncSgd;
  }
  ~ResumeTest() override { std::filesystem::remove_all(parent_); }

  End Live(const std::string& name, const Life& life) {
    const auto path = parent_ / name;
    const auto model = TinyModel();
    TestingFleet fleet(*model);
    if (life.prepare) life.prepare(fleet);
    std::optional<RunFolder> folder;
    NewestCheckpoint checkpoint;
    if (std::filesystem::exists(path / "experiment.toml")) {
      auto resumed = RunFolder::Resume(path, experiment_);
      if (!resumed.ok()) return {resumed.status(), {}, {}, {}};
      folder.emplace(std::move(resumed->folder));
      checkpoint = std::move(resumed->checkpoint);
    } else {
      auto created = RunFolder::Create(path, experiment_);
      if (!created.ok()) return {created.status(), {}, {}, {}};
      folder.emplace(std::move(created).value());
    }
    Counter before(life.before_log ? life.before_log : [](int) {});
    Counter after(life.after_log ? life.after_log : [](int) {});
    TeeSink events({&before, &folder->events(), &folder->rounds(), &after});
    Coordinator coordinator(experiment_, model, fleet, events, {});
    RunProgress from;
    if (checkpoint.file) {
      if (const Status status = coordinator.Restore(*checkpoint.file); !status.ok())
        return {status, {}, {}, {}};
      from = checkpoint.file->checkpoint().progress;
    }
    Checkpointer checkpointer(
        *folder,
        [] {
          return std::vector<FleetMember>{{"a", 10}, {"b", 11}, {"c", 12}};
        },
        life.checkpoints, from);
    const auto outcome = coordinator.Run(
        life.should_stop, [&](const CoordinatorState& state) { return checkpointer.Write(state); });
    if (!outcome.ok()) return {outcome.status(), {}, {}, {}};
    End end{OkStatus(), *outcome, {}, {}};
    end.weights.assign(coordinator.parameters().begin(), coordinator.parameters().end());
    end.weights.insert(end.weights.end(), coordinator.statistics().begin(), coordinator.statistics().end());
    if (outcome->reason == RunEnd::kInterrupted) return end;
    end.status = folder->Finish(*model, coordinator.parameters(), coordinator.statistics(), {}, "{}");
    end.rounds = Text(path / "rounds.csv");
    return end;
  }

  // The same in a process of its own. Whether it was killed.
  bool LiveAndDie(const std::string& name, const Life& life) {
    const pid_t child = ::fork();
    if (child == 0) ::_exit(Live(name, life).status.ok() ? 0 : 1);
    int how = 0;
    EXPECT_EQ(::waitpid(child, &how, 0), child);
    EXPECT_TRUE(WIFSIGNALED(how) || WEXITSTATUS(how) == 0);
    return WIFSIGNALED(how);
  }

  static std::string Text(const std::filesystem::path& path) {
    const auto bytes = ReadFile(path, Bytes{1 << 20}).value();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
  }
  bool Exists(const std::string& name, int round) const {
    const std::string digits = std::to_string(round);
    return std::filesystem::exists(parent_ / name / "checkpoints" /
                                   ("round-" + std::string(8 - digits.size(), '0') + digits + ".checkpoint"));
  }
  // The log but for notes, which say where it was resumed.
  std::vector<Event> Log(const std::string& name) const {
    std::vector<Event> events = EventsFromJsonLines(Text(parent_ / name / "events.jsonl")).value();
    std::erase_if(events, [](const Event& event) { return std::holds_alternative<Note>(event.what); });
    return events;
  }
  void ExpectSameRun(const End& end, const std::string& name, const End& straight) {
    ASSERT_TRUE(end.status.ok()) << end.status;
    EXPECT_EQ(end.outcome.reason, straight.outcome.reason);
    EXPECT_EQ(end.outcome.rounds, straight.outcome.rounds);
    EXPECT_EQ(end.outcome.accuracy, straight.outcome.accuracy);
    EXPECT_EQ(end.weights, straight.weights);
    EXPECT_EQ(end.rounds, straight.rounds);
    EXPECT_EQ(Log(name), Log("straight"));
  }
  static std::function<bool()> AfterRounds(int rounds) {
    return [rounds]() mutable { return rounds-- == 0; };
  }

  std::filesystem::path parent_;
  Experiment experiment_;
};

INSTANTIATE_TEST_SUITE_P(Methods, ResumeTest,
                         testing::Values(Kind::kSyncSgdMomentum, Kind::kSyncSgdAdam, Kind::kFederatedAdam));

TEST_P(ResumeTest, AStoppedRunEndsWithTheBitsAndTheLogOfOneThatWasNot) {
  const End straight = Live("straight", {});
  ASSERT_TRUE(straight.status.ok()) << straight.status;
  for (int rounds = 0; rounds <= static_cast<int>(kRounds); ++rounds) {
    const std::string name = "stopped-" + std::to_string(rounds);
    // A checkpoint only at the end: also after a round that is not evaluated until the run ends there.
    const End first =
        Live(name, {.checkpoints = {.time = Duration::max()}, .should_stop = AfterRounds(rounds)});
    ASSERT_TRUE(first.status.ok()) << first.status;
    EXPECT_EQ(first.outcome.rounds, static_cast<std::uint64_t>(rounds));
    EXPECT_EQ(Exists(name, rounds), rounds > 0);
    ExpectSameRun(Live(name, {}), name, straight);
    // And what is over stays so.
    ExpectSameRun(Live(name, {}), name, straight);
  }
}

// The limit of the fourth round's norms comes from rounds before the process began.
TEST_P(ResumeTest, AResumedRunClipsAsOneThatWasNotStopped) {
  const auto prepare = [](TestingFleet& fleet) {
    fleet.spoil = [](DeviceId device, RoundId round, std::span<float> parameters, double weight) {
      if (device.value == 1 && round.value == 4) std::ranges::fill(parameters, 0x1p20F);
      return weight;
    };
  };
  const End straight = Live("straight", {.prepare = prepare});
  ASSERT_TRUE(Live("stopped", {.should_stop = AfterRounds(3), .prepare = prepare}).status.ok());
  ExpectSameRun(Live("stopped", {.prepare = prepare}), "stopped", straight);
  std::vector<std::uint64_t> clipped;
  for (const Event& event : Log("stopped")) {
    const auto* const device = std::get_if<DeviceFinished>(&event.what);
    if (device != nullptr && device->clipped > 0) clipped.push_back(device->round.value);
  }
  EXPECT_EQ(clipped, std::vector<std::uint64_t>{4});
  for (const float weight : straight.weights) EXPECT_LT(std::abs(weight), 1e4F);
}

// Its sound weights, its last losses and who is to blame come from rounds before the process began.
TEST_P(ResumeTest, AResumedRunIsRolledBackAsOneThatWasNotStopped) {
  experiment_.trust.clip = 0;
  const auto prepare = [](TestingFleet& fleet) {
    fleet.spoil = [](DeviceId device, RoundId round, std::span<float> parameters, double weight) {
      if (device.value == 1 && round.value == 2) std::ranges::fill(parameters, 3000.0F);
      return weight;
    };
    fleet.loss = [](DeviceId, const SharedWeights& weights) {
      return std::abs(static_cast<double>(weights.parameters[0]));
    };
  };
  const End straight = Live("straight", {.prepare = prepare});
  ASSERT_TRUE(straight.status.ok()) << straight.status;
  const std::vector<Event> log = Log("straight");
  EXPECT_EQ(std::ranges::count_if(
                log, [](const Event& event) { return std::holds_alternative<RolledBack>(event.what); }),
            GetParam() == Kind::kSyncSgdMomentum ? 1 : 0);  // Steps of Adam are short, whatever the update.
  for (int rounds = 1; rounds < 5; ++rounds) {
    const std::string name = "stopped-" + std::to_string(rounds);
    ASSERT_TRUE(Live(name, {.should_stop = AfterRounds(rounds), .prepare = prepare}).status.ok());
    ExpectSameRun(Live(name, {.prepare = prepare}), name, straight);
  }
}

TEST_P(ResumeTest, ARunKilledAtAnyEventEndsWithTheBitsAndTheLogOfOneThatWasNot) {
  int events = 0;
  const End straight = Live("straight", {.before_log = [&](int event) { events = event; }});
  for (int at = 1; at <= events; ++at) {
    const auto kill = [at](int event) {
      if (event == at) ::raise(SIGKILL);
    };
    const std::string before = "before-" + std::to_string(at);
    EXPECT_TRUE(LiveAndDie(before, {.before_log = kill}));
    ExpectSameRun(Live(before, {}), before, straight);
    const std::string after = "after-" + std::to_string(at);
    EXPECT_TRUE(LiveAndDie(after, {.checkpoints = {.rounds = 2}, .after_log = kill}));
    ExpectSameRun(Live(after, {}), after, straight);
  }
}

TEST_P(ResumeTest, ARunKilledOverAndOverGetsToItsEnd) {
  const End straight = Live("straight", {});
  int lives = 1;
  while (LiveAndDie("killed", {.after_log = [](int event) {
                      if (event == 9) ::raise(SIGKILL);
                    }})) {
    ASSERT_LT(++lives, 20);
  }
  EXPECT_GT(lives, 3);
  ExpectSameRun(Live("killed", {}), "killed", straight);
}

TEST_P(ResumeTest, ARunKilledInTheMiddleOfACheckpointUsesTheOneBefore) {
  const End straight = Live("straight", {});
  ASSERT_TRUE(Live("killed", {.should_stop = AfterRounds(2)}).status.ok());
  const auto folder = parent_ / "killed" / "checkpoints";
  const auto size = std::filesystem::file_size(folder / "round-00000002.checkpoint");
  EXPECT_TRUE(LiveAndDie("killed", {.before_log = [&](int event) {
                           const rlimit small{size - 100, size - 100};
                           std::signal(SIGXFSZ, SIG_DFL);  // a larger file is the process's death
                           if (event == 1) ::setrlimit(RLIMIT_FSIZE, &small);
                         }}));
  const auto leftovers = [&] {
    int count = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
      count += TargetOfTemporary(entry.path().filename().string()).empty() ? 0 : 1;
    }
    return count;
  };
  EXPECT_EQ(leftovers(), 1);
  ExpectSameRun(Live("killed", {}), "killed", straight);
  EXPECT_EQ(leftovers(), 0);
}

TEST_P(ResumeTest, ACorruptCheckpointCostsOnlyTheRoundsSinceTheOneBefore) {
  const End straight = Live("straight", {});
  ASSERT_TRUE(Live("torn", {.should_stop = AfterRounds(4)}).status.ok());
  std::filesystem::resize_file(parent_ / "torn" / "checkpoints" / "round-00000004.checkpoint", 500);
  ExpectSameRun(Live("torn", {}), "torn", straight);
}

TEST_P(ResumeTest, AnAbandonedRoundLeavesNoTrace) {
  const End straight = Live("straight", {});
  ASSERT_TRUE(Live("three", {.should_stop = AfterRounds(3)}).status.ok());
  // Two devices of the fourth round have answered.
  const End abandoned =
      Live("abandoned", {.checkpoints = {.time = Duration::max()}, .prepare = [](TestingFleet& fleet) {
                           fleet.interrupt_training = [answers = 0](RoundId round) mutable {
                             return round.value == 4 && ++answers == 2 ? Cancelled("stopped") : OkStatus();
                           };
                         }});
  ASSERT_TRUE(abandoned.status.ok()) << abandoned.status;
  EXPECT_EQ(abandoned.outcome.reason, RunEnd::kInterrupted);
  EXPECT_EQ(abandoned.outcome.rounds, 3U);
  const char* const checkpoint = "checkpoints/round-00000003.checkpoint";
  EXPECT_EQ(Text(parent_ / "abandoned" / checkpoint), Text(parent_ / "three" / checkpoint));
  ExpectSameRun(Live("abandoned", {}), "abandoned", straight);
}

TEST_P(ResumeTest, AnEvaluationThatIsBrokenOffIsDoneAgain) {
  const End straight = Live("straight", {});
  const End broken = Live("broken", {.prepare = [](TestingFleet& fleet) {
                            fleet.interrupt_evaluation = [calls = 0]() mutable {
                              return ++calls > 1 ? Cancelled("stopped") : OkStatus();
                            };
                          }});
  ASSERT_TRUE(broken.status.ok()) << broken.status;
  EXPECT_EQ(broken.outcome.reason, RunEnd::kInterrupted);
  EXPECT_EQ(broken.outcome.accuracy, std::nullopt);
  ExpectSameRun(Live("broken", {}), "broken", straight);
}

TEST_P(ResumeTest, TimeAndFruitlessRoundsAndTheTargetCountOn) {
  // Seconds 1 + 2 + 3 + 4 and some evaluations: the budget is spent by the fourth round.
  experiment_.goal.time_budget = FromSeconds(9);
  const End straight = Live("straight", {});
  EXPECT_EQ(straight.outcome.reason, RunEnd::kTime);
  EXPECT_EQ(straight.outcome.rounds, 4U);
  ASSERT_TRUE(Live("stopped", {.should_stop = AfterRounds(3)}).status.ok());
  ExpectSameRun(Live("stopped", {}), "stopped", straight);

  experiment_.goal.time_budget.reset();
  experiment_.goal.rounds = 1000;
  const Life deserted = {
      .prepare = [](TestingFleet& fleet) { fleet.nobody_answers = [](RoundId) { return true; }; }};
  Life at_first = deserted;
  at_first.should_stop = AfterRounds(60);
  ASSERT_TRUE(Live("deserted", at_first).status.ok());
  EXPECT_EQ(Live("deserted", deserted).status.code(), StatusCode::kUnavailable);
  EXPECT_TRUE(Exists("deserted", 99));

  experiment_.goal.target_accuracy = 1e-9;
  const End target = Live("target", {});
  EXPECT_EQ(target.outcome.reason, RunEnd::kTarget);
  EXPECT_EQ(Live("target", {}).outcome.rounds, target.outcome.rounds);
}

TEST_P(ResumeTest, RoundsInWhichNothingIsAppliedDoNotCountAndARunOfThemFails) {
  const auto nobody = [](TestingFleet& fleet) { fleet.nobody_answers = [](RoundId) { return true; }; };
  // Also where it was stopped in between.
  ASSERT_TRUE(Live("run", {.should_stop = AfterRounds(2), .prepare = nobody}).status.ok());
  const End end = Live("run", {.prepare = nobody});
  EXPECT_EQ(end.status.code(), StatusCode::kUnavailable);
  EXPECT_NE(end.status.message().find("no round of the last 100"), std::string::npos) << end.status;
  const auto late = [](TestingFleet& fleet) {
    fleet.nobody_answers = [](RoundId round) { return round.value % 2 == 1; };
  };
  EXPECT_EQ(Live("other", {.prepare = late}).outcome.rounds, 2 * kRounds);
  // Out of time without a single one.
  experiment_.goal.rounds.reset();
  experiment_.goal.time_budget = std::chrono::seconds(20);
  EXPECT_NE(
      Live("slow", {.prepare = nobody}).status.message().find("no update was applied in any of the run's"),
      std::string::npos);
}

TEST_P(ResumeTest, ACheckpointThatCannotBeWrittenEndsTheRun) {
  ASSERT_TRUE(Live("full", {.should_stop = AfterRounds(1)}).status.ok());
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  rlimit small = before;
  small.rlim_cur = 2000;
  ::setrlimit(RLIMIT_FSIZE, &small);
  const Status status = Live("full", {}).status;
  ::setrlimit(RLIMIT_FSIZE, &before);
  EXPECT_EQ(status.code(), StatusCode::kResourceExhausted) << status;
  const End straight = Live("straight", {});
  ExpectSameRun(Live("full", {}), "full", straight);
}

TEST_P(ResumeTest, RefusesACheckpointOfAnotherOptimiser) {
  ASSERT_TRUE(Live("run", {.should_stop = AfterRounds(1)}).status.ok());
  const auto file = CheckpointFile::Read(parent_ / "run" / "checkpoints" / "round-00000001.checkpoint");
  ASSERT_TRUE(file.ok()) << file.status();
  Experiment other = experiment_;
  other.train.optimiser = {};
  other.train.server_optimiser = {};
  const auto model = TinyModel();
  TestingFleet fleet(*model);
  TeeSink nowhere({});
  const Status status = Coordinator(other, model, fleet, nowhere, {}).Restore(*file);
  EXPECT_EQ(status.code(), StatusCode::kInvalidArgument);
  EXPECT_NE(status.message().find("the checkpoint has an array 'optimiser."), std::string::npos) << status;
}

TEST_P(ResumeTest, ChecksInAtLeastAsOftenAsAsked) {
  // Rounds of 1, 2, 3 … seconds.
  ASSERT_TRUE(Live("time", {.checkpoints = {.time = FromSeconds(4), .keep = 100}}).status.ok());
  const auto has = [&](int round) { return Exists("time", round); };
  EXPECT_EQ((std::vector<bool>{has(1), has(2), has(3), has(4), has(5), has(6)}),
            (std::vector<bool>{false, false, true, true, true, true}));
}

}  // namespace
}  // namespace tributary::inline coordinator
