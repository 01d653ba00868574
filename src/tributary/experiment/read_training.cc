#include <algorithm>
#include <cctype>
#include <limits>

#include "tributary/experiment/sections.h"
#include "tributary/fleet/split_wire.h"
#include "tributary/policy/compression/codecs.h"

namespace tributary::inline experiment {

bool IsPlainName(std::string_view name) {
  const auto plain = [](unsigned char c) { return std::isalnum(c) || c == '-' || c == '_'; };
  const auto digit = [](unsigned char c) { return std::isdigit(c) != 0; };
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), plain) &&
         !std::all_of(name.begin(), name.end(), digit);
}

Status ReadGoal(Section section, Goal& goal) {
  section.Require("name");
  section.Read("name", goal.name);
  section.Read("about", goal.about);
  auto seed = static_cast<std::int64_t>(goal.seed);
  section.Read("seed", seed, 0, std::numeric_limits<std::int64_t>::max());
  goal.seed = static_cast<std::uint64_t>(seed);
  section.Read("rounds", goal.rounds, 1, kMostRounds);
  section.Read("time-budget", goal.time_budget, Range{.high = kLongestSeconds, .above_low = true});
  section.Read("target-accuracy", goal.target_accuracy, kPositiveShare);
  section.Read("evaluate-every", goal.evaluate_every, 1, kMostRounds);
  if (!goal.name.empty() && !IsPlainName(goal.name)) {
    section.Fail("name", " is \"" + goal.name + "\"; allowed: " + std::string(kPlainName));
  }
  if (!goal.rounds && !goal.time_budget && !goal.target_accuracy) {
    section.Fail("rounds",
                 " is missing; say when the run ends: rounds, time-budget, target-accuracy, or several");
  }
  return section.Finish();
}

namespace {

constexpr std::string_view kFederatedOnly = "method = \"federated\"";
constexpr std::string_view kLocalOnly =
    "method = \"federated\" or \"gossip\", or \"split\" with a split.variant that averages (splitfed-v1, "
    "splitfed-v2)";
constexpr std::string_view kAveragingOnly =
    "method = \"federated\", or \"split\" with a split.variant that averages (splitfed-v1, splitfed-v2)";

void ReadLocalWork(Section& section, bool splitfed, Training& train) {
  const bool federated = train.method == Method::kFederated;
  section.Read("batch", train.batch, 1, 1'000'000);
  section.Read("local-steps", train.local_steps, 1, kMostRounds);
  section.Read("local-epochs", train.local_epochs, 1, kMostRounds);
  const bool gossip = train.method == Method::kGossip;
  section.OnlyWith("local-steps", federated || splitfed || gossip, kLocalOnly);
  if (splitfed && train.local_steps.value_or(1) > kMostSplitSteps) {
    section.Fail("local-steps", " is " + std::to_string(*train.local_steps) +
                                    "; allowed where a network is cut: 1 to " +
                                    std::to_string(kMostSplitSteps) +
                                    ", since what went over the cut is kept until the round is over");
  }
  if (splitfed && train.local_epochs) {
    section.Fail("local-epochs",
                 ": devices with more samples would go over the cut more often than the others; use"
                 " local-steps");
  }
  section.OnlyWith("local-epochs", federated || splitfed || gossip, "method = \"federated\" or \"gossip\"");
  if (train.local_steps && train.local_epochs) {
    section.Fail("local-epochs", " and train.local-steps are both given; a device does one or the other");
  } else if (federated && !train.local_steps && !train.local_epochs) {
    section.Fail("local-steps", " is missing; with method = \"federated\" give it, or local-epochs");
  }
  section.Read("prox", train.prox, Range{.high = 1e6});
  section.OnlyWith("prox", federated, kFederatedOnly);
  section.Read("calibrate", train.calibrate, 0, kMostRounds);
  section.OnlyWith("calibrate", train.method != Method::kSplit || train.calibrate == 0,
                   "a method whose devices have the whole network");
}

void ReadOptimiser(Section& section, OptimiserOptions& optimiser) {
  static const std::array<std::string, 2> kNames = {"sgd", "adam"};
  section.ReadName("optimiser", "optimiser", kNames, optimiser.name);
  section.Read("momentum", optimiser.momentum, kBelowOne);
  section.Read("nesterov", optimiser.nesterov);
  section.Read("weight-decay", optimiser.weight_decay, Range{.high = 1e6});
  section.Read("beta1", optimiser.beta1, kBelowOne);
  section.Read("beta2", optimiser.beta2, kBelowOne);
  section.Read("epsilon", optimiser.epsilon, Range{.low = 1e-30, .high = 1e6});
  const bool sgd = optimiser.name == "sgd";
  section.OnlyWith("momentum", sgd, "optimiser = \"sgd\"");
  section.OnlyWith("nesterov", sgd, "optimiser = \"sgd\"");
  for (const auto key : {"beta1", "beta2", "epsilon"}) section.OnlyWith(key, !sgd, "optimiser = \"adam\"");
  if (sgd && optimiser.nesterov && optimiser.momentum == 0) {
    section.Fail("nesterov", " looks ahead along the momentum, which is 0; set train.momentum, e.g. to 0.9");
  }
}

void ReadSchedule(Section& section, const Goal& goal, bool sgd, ScheduleOptions& schedule) {
  static const std::array<std::string, 3> kNames = {"constant", "step", "cosine"};
  schedule.learning_rate = sgd ? 0.05 : 0.001;
  section.Read("learning-rate", schedule.learning_rate, Range{.high = 1e6, .above_low = true});
  section.ReadName("schedule", "schedule", kNames, schedule.name);
  std::vector<std::int64_t> milestones;
  section.Read("milestones", milestones, 1, kMostRounds);
  schedule.milestones.assign(milestones.begin(), milestones.end());
  section.Read("factor", schedule.factor, kPositiveShare);
  section.Read("floor", schedule.floor, kNotNegative);
  std::int64_t warmup = 0;
  section.Read("warmup", warmup, 0, kMostRounds);
  schedule.warmup_steps = static_cast<std::uint64_t>(warmup);
  const bool step = schedule.name == "step";
  section.OnlyWith("milestones", step, "schedule = \"step\"");
  section.OnlyWith("factor", step, "schedule = \"step\"");
  section.OnlyWith("floor", schedule.name == "cosine", "schedule = \"cosine\"");
  if (step)
    section.Require("milestones", "; with schedule = \"step\" it lists the rounds at which the rate is cut");
  if (schedule.name == "cosine" && !goal.rounds) {
    section.Fail(
        "schedule",
        " is \"cosine\", which falls over the whole run; set experiment.rounds to say how long that is");
  }
}

Status ReadServerOptimiser(Section section, ServerOptimiser& server) {
  section.Require("kind");
  section.ReadWord("kind", kServerOptimisers, server.kind);
  const bool none = server.kind == ServerOptimiserKind::kNone;
  const bool momentum = server.kind == ServerOptimiserKind::kMomentum;
  if (!none && !momentum) server.learning_rate = 0.01;
  section.Read("learning-rate", server.learning_rate, Range{.high = 1e6, .above_low = true});
  section.Read("momentum", server.momentum, kBelowOne);
  section.Read("beta1", server.beta1, kBelowOne);
  section.Read("beta2", server.beta2, kBelowOne);
  section.Read("tau", server.tau, Range{.low = 1e-30, .high = 1e6});
  section.OnlyWith("learning-rate", !none, "kind = \"momentum\", \"adam\" or \"yogi\"");
  section.OnlyWith("momentum", momentum, "kind = \"momentum\"");
  for (const auto key : {"beta1", "beta2", "tau"}) {
    section.OnlyWith(key, !none && !momentum, "kind = \"adam\" or \"yogi\"");
  }
  return section.Finish();
}

Status ReadAugmentTable(Section section, AugmentOptions& augment) {
  section.Read("flip", augment.flip);
  std::int64_t padding = augment.padding;
  section.Read("padding", padding, 0, 64);
  augment.padding = static_cast<int>(padding);
  return section.Finish();
}

void ReadAugment(Section& section, const std::string& set, AugmentOptions& augment) {
  static const std::array<std::string, 3> kNames = {"auto", "none", "standard"};
  const Value* value = section.Take("augment");
  if (value != nullptr && std::holds_alternative<Table>(value->content)) {
    section.Fail(ReadAugmentTable(Section(section.document(), *value, section.PathOf("augment")), augment));
    return;
  }
  std::string name = "auto";
  section.ReadName("augment", "augmentation", kNames, name);
  // Photographs are the same mirrored and moved; drawings and digits need not be.
  const bool photographs = set.starts_with("cifar");
  if (name == "standard" || (name == "auto" && photographs)) augment = {.flip = true, .padding = 4};
}

}  // namespace

Status ReadTraining(Section section, const Goal& goal, const DataChoice& data, SplitVariant variant,
                    Training& train) {
  section.Require("method");
  section.ReadWord("method", kMethods, train.method);
  const bool splitfed = train.method == Method::kSplit && variant != SplitVariant::kParallel;
  ReadLocalWork(section, splitfed, train);
  ReadOptimiser(section, train.optimiser);
  ReadSchedule(section, goal, train.optimiser.name == "sgd", train.schedule);
  section.Read("label-smoothing", train.label_smoothing, kBelowOne);
  ReadAugment(section, data.set, train.augment);
  if (const Value* server = section.Take("server-optimiser")) {
    const Value table = AsTable(*server);
    const std::string path = section.PathOf("server-optimiser");
    section.Fail(ReadServerOptimiser(Section(section.document(), table, path), train.server_optimiser));
    const bool none = train.server_optimiser.kind == ServerOptimiserKind::kNone;
    section.OnlyWith("server-optimiser", none || splitfed || train.method == Method::kFederated,
                     kAveragingOnly);
  }
  // What is left for the makers to say: they know their options best.
  if (auto made = MakeOptimiser(train.optimiser, 0); !made.ok())
    section.Fail("optimiser", ": " + made.status().message());
  if (auto made = Schedule::Make(train.schedule); !made.ok()) {
    const bool floor = section.Has("floor"), milestones = section.Has("milestones");
    section.Fail(floor ? "floor" : milestones ? "milestones" : "schedule", ": " + made.status().message());
  }
  return section.Finish();
}

Status ReadTransfers(Section section, TransferOptions& transfers) {
  section.ReadName("strategy", "strategy", kTransferStrategies, transfers.strategy);
  std::optional<Bytes> largest;
  section.Read("largest-segment", largest);
  if (largest) transfers.largest_segment = largest->value;
  section.Read("drift", transfers.drift, Range{.high = 10, .above_low = true});
  section.OnlyWith("drift",
                   FollowsMeasurements(transfers.strategy) || transfers.drift == TransferOptions{}.drift,
                   "strategy = \"ibatch\" or \"optimal\"");
  return section.Finish();
}

Status ReadCompression(Section section, const Extensions& extensions, CompressionOptions& compression) {
  const std::vector<CompressionKind> codecs = extensions.AllCodecs();
  std::vector<std::string> names;
  for (const CompressionKind& codec : codecs) names.push_back(codec->name);
  std::string name = compression.kind->name;
  section.ReadName("kind", "compression", names, name);
  compression.kind = codecs[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
  section.Read("ratio", compression.ratio, kPositiveShare);
  section.Read("delta", compression.delta, Range{.high = 1});
  section.Read("ewma", compression.ewma, kPositiveShare);
  section.ReadName("scope", "scope", kSelectionScopes, compression.scope);
  section.Read("error-feedback", compression.error_feedback);
  for (const std::string key : {"ratio", "scope", "delta", "ewma"}) {
    std::string with;
    for (const CompressionKind& codec : codecs) {
      if (codec->Uses(key)) with += (with.empty() ? "kind = \"" : " or \"") + codec->name + "\"";
    }
    section.OnlyWith(key, compression.kind->Uses(key), with);
  }
  section.OnlyWith("error-feedback", compression.kind->Uses("error-feedback"), "a kind other than \"dense\"");
  if (const Status status = Validate(compression); !status.ok())
    section.Fail("kind", ": " + status.message());
  return section.Finish();
}

}  // namespace tributary::inline experiment
