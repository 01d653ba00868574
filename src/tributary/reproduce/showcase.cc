// What the mechanisms do together, and what each of them has to do with it: the default experiment, conventionally, with all
// of them, and with all but one. Arms are the preset's own settings, so that they cannot drift apart from it.

#include "tributary/experiment/presets.h"
#include "tributary/reproduce/study.h"

namespace tributary::inline reproduce {
namespace {

struct LeftOut {
  const char* arm;
  const char* description;
  std::vector<std::string> settings;
};

}  // namespace

StatusOr<Study> MakeShowcaseStudy(Effort effort) {
  const std::string preset = "default";
  TRIBUTARY_ASSIGN_OR_RETURN(const ExperimentPair pair, FindExperimentPair(preset));
  TRIBUTARY_CHECK(pair.against && pair.experiment.goal.target_accuracy);
  Study study;
  study.seeds = effort == Effort::kFull ? std::vector<std::uint64_t>{1, 2, 3, 4, 5}
                                        : std::vector<std::uint64_t>{1, 2, 3};
  study.target_accuracy = *pair.experiment.goal.target_accuracy;
  Reproduction& reproduction = study.reproduction;
  reproduction.name = "showcase";
  reproduction.about =
      "The default experiment: eight unequal devices whose samples arrive at unequal rates, trained "
      "conventionally, with all "
      "mechanisms together, and with all but one of them.";
  AddArm(study, "conventional", "a batch of 16 of every device at every step, dense, in sequence",
         *pair.against);
  AddArm(study, "all", "all mechanisms", pair.experiment);
  const std::vector<LeftOut> arms = {
      {"no-stream", "without batches that follow streams, and small buffers", {"stream="}},
      {"no-compression", "without compression", {"compression="}},
      {"no-segments", "without transfers in segments", {"transfers="}},
      {"no-shards", "with random shards of equal size", {"data.split=iid"}},
      {"no-dropout", "without dropout: who is late is left out", {"dropout="}},
      {"no-deadline",
       "without dropout and deadline: everybody is waited for",
       {"dropout=", "fleet.deadline="}}};
  std::vector<Arm> without;
  for (const LeftOut& arm : arms) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Experiment experiment, FindExperiment(preset, arm.settings));
    AddArm(study, arm.arm, arm.description, experiment);
    without.push_back(reproduction.arms.back());
  }
  reproduction.metrics = {{"time to target", "s", Metric::Better::kLower, {.decimals = 0}},
                          {"megabytes", "MB", Metric::Better::kLower, {.decimals = 0}},
                          {"seconds per round", "s", Metric::Better::kLower, {.decimals = 2}},
                          {"waiting share", "", Metric::Better::kLower, {.decimals = 1, .percent = true}},
                          {"buffered samples", "", Metric::Better::kLower, {.decimals = 0}}};
  reproduction.comparisons = {{"sooner than conventional",
                               "time to target",
                               BaselineComparison::Kind::kSpeedUp,
                               AgainstOne(reproduction.arms, "conventional"),
                               {.decimals = 2}},
                              {"times as long as with all",
                               "time to target",
                               BaselineComparison::Kind::kRatio,
                               AgainstOne(without, "all"),
                               {.decimals = 2}}};
  reproduction.chart = {"A fleet trained conventionally, with all mechanisms, and with all but one",
                        "virtual seconds",
                        "test accuracy",
                        /*log_x=*/true,
                        {{study.target_accuracy, "target"}}};
  reproduction.notes = {
      "Time to target is the virtual time at which an evaluation first reached 80 %. An arm without a figure "
      "did not get there in "
      "600 rounds. A run ends there, so megabytes, both ways, are those to target too.",
      "No published figure stands beside these: the papers' own comparisons are reproductions of their own."};
  return study;
}

}  // namespace tributary::inline reproduce
