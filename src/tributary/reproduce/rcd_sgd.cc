// RCD-SGD's comparison: eight workers of unequal speed in decentralised training, whose shards and batches are all alike, or
// fit their speeds; and what of the saving the shards' likeness has a part in.

#include <cmath>

#include "tributary/reproduce/study.h"

namespace tributary::inline reproduce {
namespace {

constexpr std::int64_t kWorkers = 8;
constexpr double kSpeeds[] = {1, 2, 4};  // of fast workers against slow ones
// The paper's target, log(loss) = −1.
const double kTargetLoss = std::exp(-1.0);

// Every second one is so many times slower than the others; all fleets compute as much together.
Group Workers(double spread) {
  std::vector<double> speeds;
  for (std::int64_t i = 0; i < kWorkers; ++i)
    speeds.push_back(50e9 * (i % 2 == 0 ? spread : 1) * 2 / (spread + 1));
  Group group;
  group.name = "workers";
  group.count = kWorkers;
  group.compute = {Distribution::Kind::kList, std::move(speeds)};
  group.uplink = group.downlink = Distribution::Constant(1e9);
  group.round_trip = Distribution::Constant(0.001);
  return group;
}

Experiment Base(const std::string& set, bool full) {
  Experiment experiment;
  experiment.goal.name = "rcd-sgd";
  experiment.model.name = "mlp";
  experiment.model.compute_as = "resnet18";
  experiment.data.set = set;
  experiment.data.evaluate = MeasuredOn::kTrain;
  experiment.data.test_limit = full ? 10'000 : 2'000;
  experiment.data.train_limit = full ? 50'000 : 20'000;
  experiment.train.method = Method::kGossip;
  experiment.train.batch = 64;
  experiment.train.schedule.name = "constant";
  experiment.train.schedule.learning_rate = 0.2;
  return experiment;
}

// What an arm does about speeds and meetings.
struct Side {
  std::string name, text;
  std::int64_t steps = 1;  // between two averages
  std::string split = "iid";
  ShardChoice shards;
};

std::vector<Side> Sides() {
  const ShardChoice paper{true, {}, PartitionObjective::kFacilityLocation, BlockChoice::kRaw, {}};
  const ShardChoice cut{true, {}, PartitionObjective::kGraphCut, BlockChoice::kRaw, {}};
  return {{"equal", "equal random shards", 1, "iid", {}},
          {"equal-f2", "equal random shards, F = 2", 2, "iid", {}},
          {"stratified-f2", "stratified random shards by speed, F = 2", 2, "stratified", {}},
          {"facility-f2", "facility location as published, F = 2", 2, "submodular", paper},
          {"cut-f2", "graph cut as published, F = 2", 2, "submodular", cut},
          {"ours-f2", "matched cut, by fill, F = 2", 2, "submodular", {}}};
}

}  // namespace

StatusOr<Study> MakeRcdSgdStudy(Effort effort, const std::filesystem::path& data_dir) {
  const bool full = effort == Effort::kFull;
  std::error_code error;
  const bool found = !data_dir.empty() && std::filesystem::is_directory(data_dir / "fashion-mnist", error);
  const std::string set = found ? "fashion-mnist" : "glyphs";
  const Experiment base = Base(set, full);
  constexpr double kSteps = 600;  // of each worker, in every arm

  Study study;
  study.seeds = {1, 2, 3};
  study.target_loss = kTargetLoss;
  Reproduction& reproduction = study.reproduction;
  std::map<std::string, std::string> against_equal, against_stratified;
  for (const MixingRule rule : {MixingRule::kMetropolis, MixingRule::kMatcha}) {
    const std::string algorithm = rule == MixingRule::kMatcha ? "matcha" : "d-psgd";
    for (const double spread : kSpeeds) {
      const std::string setting = algorithm + "-" + std::to_string(std::lround(spread)) + "to1-";
      for (const Side& side : Sides()) {
        Experiment experiment = base;
        experiment.fleet.groups = {Workers(spread)};
        experiment.data.split.kind = side.split;
        experiment.data.shards = side.shards;
        experiment.train.local_steps = side.steps;
        experiment.gossip.mixing.rule = rule;
        experiment.gossip.mixing.topology.kind = TopologyKind::kErdosRenyi;
        experiment.gossip.batches = side.split == "iid" ? BatchSizes::kEqual : BatchSizes::kSpeed;
        experiment.goal.rounds = std::llround(kSteps / static_cast<double>(side.steps));
        experiment.goal.evaluate_every = std::llround(10.0 / static_cast<double>(side.steps));
        const std::string speeds = std::to_string(std::lround(spread)) + ":1";
        AddArm(study, setting + side.name,
               (rule == MixingRule::kMatcha ? "MATCHA, " : "D-PSGD, ") + speeds + ": " + side.text,
               std::move(experiment));
        if (side.name != "equal") against_equal[setting + side.name] = setting + "equal";
        if (side.split == "submodular") against_stratified[setting + side.name] = setting + "stratified-f2";
      }
    }
  }
  reproduction.name = "rcd-sgd";
  reproduction.about = "RCD-SGD (He & Dube, ICCV workshops 2023): eight workers train decentralised on " +
                       set +
                       ", with time and bytes of a ResNet-18. Every second worker is as fast as the others, "
                       "half or a quarter as fast.";
  reproduction.metrics = {{"time to target", "s", Metric::Better::kLower, {.decimals = 1}},
                          {"final loss", "", Metric::Better::kLower, {.decimals = 3}},
                          {"seconds per round", "s", Metric::Better::kLower, {.decimals = 3}},
                          {"waiting share", "", Metric::Better::kLower, {.decimals = 1, .percent = true}}};
  reproduction.comparisons = {{"saved against equal shards",
                               "time to target",
                               BaselineComparison::Kind::kSaving,
                               against_equal,
                               {.decimals = 1, .percent = true}},
                              {"saved by likeness",
                               "time to target",
                               BaselineComparison::Kind::kSaving,
                               against_stratified,
                               {.decimals = 1, .percent = true}}};
  // At which speeds, the paper does not say; its figures stand beside the middle ones.
  for (const auto& [arm, value] : std::map<std::string, double>{{"d-psgd-2to1-facility-f2", 0.32},
                                                                {"d-psgd-2to1-cut-f2", 0.26},
                                                                {"matcha-2to1-facility-f2", 0.16},
                                                                {"matcha-2to1-cut-f2", 0.12}}) {
    reproduction.published.push_back({arm, "saved against equal shards", value, "abstract and section 4"});
  }
  reproduction.chart = {"Loss of the mean model on training samples",
                        "virtual seconds",
                        "loss",
                        false,
                        {{kTargetLoss, "log(loss) = −1"}}};
  reproduction.notes = {
      "Time to target is when the mean of the workers' models has a loss of 1/e on a fixed part of the "
      "training set. The paper's "
      "figures mix three things: batches that fit the speeds, averages after every second step (F = 2) "
      "instead of every "
      "one, and shards that look alike. 'saved by likeness' is what the last alone buys, against stratified "
      "random shards "
      "with the same batches and F.",
      "Model, number of workers, speeds and feature space are not published. Here: a perceptron that is "
      "charged as a ResNet-18, a "
      "random graph in which every second pair is joined, links of 1 Gbit/s, shards by the first 64 "
      "principal components of "
      "the pixels."};
  return study;
}

}  // namespace tributary::inline reproduce
