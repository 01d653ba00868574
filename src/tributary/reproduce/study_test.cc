#include "tributary/reproduce/study.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/presets.h"
#include "tributary/reproduce/report.h"
#include "tributary/reproduce/run_measurement.h"

namespace tributary::inline reproduce {
namespace {

TEST(Study, EveryOneInTheListIsWholeAndUnknownOnesAreNot) {
  for (const StudyEntry& entry : ListStudies()) {
    for (const Effort effort : {Effort::kQuick, Effort::kFull}) {
      const auto study = MakeStudy(entry.name, effort);
      ASSERT_TRUE(study.ok()) << study.status();
      EXPECT_TRUE(CheckReproduction(study->reproduction).ok());
      EXPECT_GE(study->seeds.size(), 3U);
      if (study->runner) continue;
      for (const Arm& arm : study->reproduction.arms) EXPECT_TRUE(study->plans.contains(arm.name));
    }
  }
  EXPECT_EQ(MakeStudy("heterogenity", Effort::kQuick).status().message(),
            "unknown reproduction 'heterogenity'; did you mean 'heterogeneity'? Known: distreal, dynacomm, "
            "heterogeneity, psl, rcd-sgd, robust, scadles, showcase, trust, or the path of a study file, "
            "ending in .toml");
}

TEST(Study, ASlowDeviceCostsTimeAndNoAccuracy) {
  Study study = MakeStudy("heterogeneity", Effort::kQuick).value();
  for (auto& [name, plan] : study.plans) {
    Experiment& experiment = plan.experiment;
    experiment.goal.rounds = 3;
    experiment.data.train_limit = 400;
    experiment.data.test_limit = 50;
    experiment.model.name = "lenet5";
    experiment.train.batch = 8;
  }
  const ArmRunner run = RunnerOf(study, SimulationOptions{.threads = 2});
  const auto measure = [&](const std::string& arm) {
    auto measurement = run({arm, "", ""}, 1, {});
    EXPECT_TRUE(measurement.ok()) << measurement.status();
    return measurement->numbers;
  };
  auto equal = measure("equal");
  auto compute = measure("compute-16");
  auto link = measure("link-16");
  auto both = measure("both-16");
  EXPECT_EQ(equal["accuracy"], both["accuracy"]);
  EXPECT_GT(compute["seconds per round"], equal["seconds per round"]);
  EXPECT_GT(link["seconds per round"], equal["seconds per round"]);
  EXPECT_GT(both["seconds per round"], compute["seconds per round"]);
  EXPECT_GT(both["seconds per round"], link["seconds per round"]);
  EXPECT_LT(equal["waiting share"], 0.01);
  EXPECT_GT(both["waiting share"], 0.3);
}

TEST(Study, ScadlesAndItsPresetsHaveTheSameStreams) {
  const Study study = MakeStudy("scadles", Effort::kQuick).value();
  EXPECT_EQ(study.plans.at("s1-ddl").experiment.data.set, "glyphs");  // where no folder has others
  for (const std::string setting : {"s1", "s2", "s1p", "s2p"}) {
    const auto rates = [](const Experiment& experiment) {
      return experiment.fleet.groups[0].stream_rate.numbers;
    };
    const Experiment ours = FindExperiment("scadles-" + setting).value();
    const Experiment conventional = FindExperiment("ddl-" + setting).value();
    const Experiment& best = study.plans.at(setting + "-best").experiment;
    EXPECT_EQ(rates(ours), rates(best));
    EXPECT_EQ(rates(conventional), rates(best));
    EXPECT_EQ(ours.stream.batch, best.stream.batch);
    EXPECT_EQ(ours.stream.scaling, best.stream.scaling);
    EXPECT_EQ(ours.stream.base_batch, best.stream.base_batch);
    EXPECT_EQ(ours.compression, best.compression);
    EXPECT_EQ(ours.transfers, best.transfers);
    EXPECT_EQ(conventional.stream.batch, study.plans.at(setting + "-ddl").experiment.stream.batch);
  }
}

TEST(Study, FollowingStreamsTakesAsManySamplesInLessTime) {
  Study study = MakeStudy("scadles", Effort::kQuick).value();
  const auto seconds = [&](const std::string& arm) {
    Experiment experiment = study.plans.at(arm).experiment;
    experiment.goal.rounds = 12;
    experiment.goal.evaluate_every = 12;
    experiment.data.train_limit = 1000;
    experiment.data.test_limit = 100;
    return MeasureRun(experiment, {1, 1}, {.threads = 2}).value().numbers.at("seconds per round");
  };
  // 64 samples at 19.3 a second; the window; and a step of which the exchange takes a second.
  EXPECT_NEAR(seconds("s1p-ddl"), 64 / 19.3, 0.1);
  EXPECT_NEAR(seconds("s2-ddl"), 1.2, 0.05);
  EXPECT_LT(seconds("s1p-best"), 1.0);  // The first round knows no rates yet.
  EXPECT_LT(seconds("s2-best"), 0.8);
}

TEST(Study, OptimalSegmentsAreNeverWorseOnAMeasuredProfile) {
  const Study study = MakeStudy("dynacomm", Effort::kQuick).value();
  const ArmRunner run = RunnerOf(study, SimulationOptions{});
  const auto measurement = run({"googlenet-10", "", ""}, 1, {});
  ASSERT_TRUE(measurement.ok()) << measurement.status();
  auto numbers = measurement->numbers;
  EXPECT_GT(numbers["optimal saves"], 0.05);
  EXPECT_GE(numbers["optimal saves"], numbers["ibatch saves"]);
  EXPECT_GE(numbers["optimal saves"], numbers["layerwise saves"]);
  EXPECT_LE(numbers["speed-up optimal"], 8.01);
  EXPECT_LE(numbers["computing"], 1);
}

TEST(Study, PslHasTheSettingsOfItsPresets) {
  const Study study = MakeStudy("psl", Effort::kQuick).value();
  EXPECT_EQ(study.plans.at("central").experiment.data.set, "glyphs");  // where no folder has others
  const std::pair<const char*, const char*> pairs[] = {
      {"psl-fls", "k16-c2-fls"}, {"psl-ugs", "k16-c2-ugs"}, {"psl-lds", "lds-2.0"}};
  for (const auto& [name, arm] : pairs) {
    const Experiment preset = FindExperiment(name).value();
    const Experiment& ours = study.plans.at(arm).experiment;
    EXPECT_EQ(preset.sampling.method, ours.sampling.method) << name;
    if (preset.sampling.method == SamplingMethod::kLatentDirichlet) {
      EXPECT_EQ(preset.sampling.delta, ours.sampling.delta);
    }
    EXPECT_EQ(preset.split.cut, ours.split.cut);
    EXPECT_EQ(preset.train.batch, ours.train.batch);
    EXPECT_EQ(preset.train.schedule.learning_rate, ours.train.schedule.learning_rate);
    EXPECT_EQ(preset.data.split.kind, ours.data.split.kind);
    EXPECT_EQ(preset.data.split.alpha, ours.data.split.alpha);
    EXPECT_EQ(preset.data.split.classes_per_device, ours.data.split.classes_per_device);
    ASSERT_EQ(preset.fleet.groups.size(), ours.fleet.groups.size());
    for (std::size_t i = 0; i < preset.fleet.groups.size(); ++i) {
      EXPECT_EQ(preset.fleet.groups[i].count, ours.fleet.groups[i].count);
      EXPECT_EQ(preset.fleet.groups[i].setup, ours.fleet.groups[i].setup);
    }
  }
}

TEST(Study, PslPlansEpochsThatWaitLessForTheSlow) {
  const Study study = MakeStudy("psl", Effort::kQuick).value();
  const ArmRunner run = RunnerOf(study, SimulationOptions{.threads = 2});
  const auto plan = [&](const std::string& arm) {
    const SplitArm planned{study.plans.at(arm).experiment, 2, 0, {}};
    return MeasureSplit(planned, 1, *MakeRealClock(), {}).value().numbers;
  };
  const auto uniform = plan("k16-c2-ugs"), latent = plan("lds-2.0");
  EXPECT_LT(latent.at("planned seconds"), 0.38 * uniform.at("planned seconds"));
  EXPECT_GT(latent.at("deviation"), uniform.at("deviation"));
  // Stragglers are as slow, and as many, where they compute slowly.
  EXPECT_NEAR(plan("compute-lds").at("deviation"), latent.at("deviation"), 0.05);
  // An arm that is only planned, by its name.
  const auto deadline = run({"deadline-1.0", "", ""}, 1, {});
  ASSERT_TRUE(deadline.ok()) << deadline.status();
  EXPECT_LE(deadline->numbers.at("planned seconds"), plan("lds-1.0").at("planned seconds"));
  EXPECT_FALSE(deadline->numbers.contains("accuracy"));
  EXPECT_FALSE(run({"nobody", "", ""}, 1, {}).ok());
}

// A grid of two learning rates, of which the first does not move, and an arm that takes the best.
constexpr std::string_view kTuned = R"toml(schema = 1
name = "tuned"
preset = "ddl-s2p"
seeds = 2
target-accuracy = TARGET
set = ["data.train-limit=1000", "data.test-limit=200", "experiment.rounds=8", "experiment.evaluate-every=1"]
metric = [{ name = "accuracy" }, { name = "final loss", better = "lower" }]

[[axis.rate]]
name = "0.000001"
set = ["train.learning-rate=0.000001"]

[[axis.rate]]
name = "0.05"
set = ["train.learning-rate=0.05"]

[[arm]]
name = "grid-{rate}"
over = ["rate"]
grid = "rate"
curve = false

[[arm]]
name = "tuned"
tuned = "rate"

[[arm]]
name = "own"
set = ["train.learning-rate=0.000001"]
once = true
)toml";

class TunedStudy : public testing::Test {
 protected:
  ~TunedStudy() override { std::filesystem::remove_all(folder_); }

  static Study Make(const std::string& target) {
    std::string text(kTuned);
    text.replace(text.find("TARGET"), 6, target);
    auto study = ReadStudyText(text, {"tuned.toml", std::nullopt}, Effort::kQuick);
    EXPECT_TRUE(study.ok()) << study.status();
    return std::move(study).value();
  }

  // What a person gets to see of it.
  StatusOr<std::string> Table(const Study& study, const std::string& out, HarnessOptions options) {
    options.out = folder_ / out;
    options.seeds = study.seeds;
    TRIBUTARY_ASSIGN_OR_RETURN(
        const HarnessOutcome outcome,
        RunReproduction(study.reproduction, options, *MakeRealClock(), RunnerOf(study, SimulationOptions{})));
    return FormatJsonReport(study.reproduction, Summarise(study.reproduction, outcome.results));
  }

  std::map<std::string, double> Numbers(const std::string& out, const std::string& arm, std::uint64_t seed) {
    return ReadArmResult(ArmResultPath(folder_ / out, arm, seed)).value().measurement.numbers;
  }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("tributary_study_test_" + std::to_string(::getpid()));
};

TEST_F(TunedStudy, HasTheSameTableWithAnyNumberOfThreadsAndShards) {
  const Study study = Make("0.15");
  const auto whole = Table(study, "whole", {});
  ASSERT_TRUE(whole.ok()) << whole.status();
  EXPECT_EQ(Table(study, "threads", {.threads = 3}).value(), *whole);
  ASSERT_TRUE(Table(study, "a", {.shard = {1, 2}}).ok());
  ASSERT_TRUE(Table(study, "b", {.threads = 2, .shard = {2, 2}}).ok());
  EXPECT_EQ(Table(study, "both", {.merge = {folder_ / "a", folder_ / "b"}}).value(), *whole);

  // The first rate does not get there, so the second is taken.
  EXPECT_EQ(Numbers("whole", "tuned", 1), Numbers("whole", "grid-0.05", 1));
  EXPECT_NE(Numbers("whole", "tuned", 2), Numbers("whole", "tuned", 1));
  EXPECT_EQ(Numbers("whole", "own", 1), Numbers("whole", "grid-0.000001", 1));
  EXPECT_TRUE(Numbers("whole", "own", 2).empty());
  EXPECT_TRUE(Numbers("whole", "grid-0.05", 2).empty());
  EXPECT_TRUE(ReadArmResult(ArmResultPath(folder_ / "whole", "grid-0.05", 1))->measurement.curve.empty());
  EXPECT_EQ(ReadArmResult(ArmResultPath(folder_ / "whole", "tuned", 1))->measurement.curve.size(), 8U);
}

TEST_F(TunedStudy, WhereNoValueReachesTheTargetTheFurthestIsTaken) {
  ASSERT_TRUE(Table(Make("0.999"), "out", {}).ok());
  EXPECT_EQ(Numbers("out", "tuned", 1), Numbers("out", "grid-0.05", 1));
}

}  // namespace
}  // namespace tributary::inline reproduce
