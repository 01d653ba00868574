// What a slow device does to conventional training: synchronous SGD with a fixed batch, over eight devices whose
// compute, links or both differ by a growing factor. The fastest device is the same in every arm, so the arms differ
// only in how slow the others are; the mathematics is the same in all of them, and so is the accuracy after a round.

#include <cmath>

#include "tributary/reproduce/study.h"

namespace tributary::inline reproduce {
namespace {

constexpr int kDevices = 8;
constexpr double kFastestCompute = 4e9;  // MACs per second
constexpr double kFastestLink = 1e8;     // bits per second

// From the fastest down to `spread` times slower, in equal ratios.
Distribution Spread(double fastest, double spread) {
  Distribution rates{Distribution::Kind::kList, {}};
  for (int i = 0; i < kDevices; ++i)
    rates.numbers.push_back(fastest * std::pow(spread, -i / double{kDevices - 1}));
  return rates;
}

Experiment Conventional(Effort effort, double compute_spread, double link_spread) {
  const bool full = effort == Effort::kFull;
  Experiment experiment;
  experiment.goal.name = "heterogeneity";
  experiment.goal.rounds = full ? 400 : 160;
  experiment.goal.evaluate_every = full ? 20 : 10;
  experiment.model.name = full ? "resnet8" : "cnn";
  experiment.data.set = "glyphs";
  experiment.data.split.kind = "iid";
  experiment.data.test_limit = 1000;
  Group group;
  group.name = "devices";
  group.count = kDevices;
  group.compute = Spread(kFastestCompute, compute_spread);
  group.uplink = Spread(kFastestLink, link_spread);
  group.downlink = Spread(kFastestLink, link_spread);
  group.round_trip = Distribution::Constant(0.01);
  experiment.fleet.groups = {group};
  experiment.train.method = Method::kSyncSgd;
  experiment.train.batch = 32;
  experiment.train.optimiser.momentum = 0.9;
  experiment.train.schedule.name = "cosine";
  experiment.train.schedule.learning_rate = 0.1;
  return experiment;
}

}  // namespace

StatusOr<Study> MakeHeterogeneityStudy(Effort effort) {
  Study study;
  study.seeds = effort == Effort::kFull ? std::vector<std::uint64_t>{1, 2, 3, 4, 5}
                                        : std::vector<std::uint64_t>{1, 2, 3};
  study.target_accuracy = 0.6;
  Reproduction& reproduction = study.reproduction;
  reproduction.name = "heterogeneity";
  reproduction.about =
      "Conventional training (synchronous SGD, batch 32) over eight devices of which the slowest is 1, 4 or "
      "16 times "
      "slower than the fastest, in compute, in its link, or in both. The fastest is the same everywhere.";
  AddArm(study, "equal", "eight equal devices", Conventional(effort, 1, 1));
  for (const int spread : {4, 16}) {
    const std::string times = std::to_string(spread);
    AddArm(study, "compute-" + times, "compute spread over a factor of " + times,
           Conventional(effort, spread, 1));
    AddArm(study, "link-" + times, "links spread over a factor of " + times, Conventional(effort, 1, spread));
    AddArm(study, "both-" + times, "compute and links spread over a factor of " + times,
           Conventional(effort, spread, spread));
  }
  reproduction.metrics = {{"seconds per round", "s", Metric::Better::kLower, {.decimals = 3}},
                          {"time to target", "s", Metric::Better::kLower, {.decimals = 1}},
                          {"waiting share", "", Metric::Better::kLower, {.decimals = 1, .percent = true}},
                          {"accuracy", "", Metric::Better::kHigher, {.decimals = 2, .percent = true}}};
  reproduction.comparisons = {{"slow-down",
                               "seconds per round",
                               BaselineComparison::Kind::kRatio,
                               AgainstOne(reproduction.arms, "equal"),
                               {.decimals = 2}}};
  reproduction.chart = {"What slow devices do to conventional training",
                        "virtual seconds",
                        "test accuracy",
                        /*log_x=*/true,
                        {{study.target_accuracy, "target"}}};
  reproduction.notes = {
      "Accuracy after a given round is the same in every arm: a slow device changes when a round ends, not "
      "what it "
      "computes. Time to target is the virtual time at which an evaluation first reached 60 %.",
      "No published figure stands beside these: they are the baseline that the methods of the papers improve "
      "on."};
  return study;
}

}  // namespace tributary::inline reproduce
