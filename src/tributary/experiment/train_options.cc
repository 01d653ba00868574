// [experiment], [train] and [transfers].
#include <limits>

#include "tributary/experiment/forms.h"
#include "tributary/experiment/options.h"
#include "tributary/fleet/split_wire.h"

namespace tributary::inline experiment {

OptionList GoalKeys(Experiment& e, const OptionContext&) {
  Goal& goal = e.goal;
  OptionList list;
  list.Add(kNameKey, PlainName(goal.name), "Name of the experiment and of the folder of its runs.")
      .Required();
  list.Add("about", Text(goal.about), "A one-line description, shown in lists.");
  list.Add("seed", Whole(goal.seed, {0, std::numeric_limits<std::int64_t>::max()}),
           "Seed of all random numbers.");
  list.Add("rounds", Whole(goal.rounds, {1, kMostRounds}),
           "Ends the run after this number of rounds in which updates were applied.");
  list.Add("time-budget", Time(goal.time_budget, {.high = kLongestSeconds, .above_low = true}),
           "Ends the run after this time on the fleet's clock, which is virtual in a simulation.");
  list.Add("target-accuracy", Number(goal.target_accuracy, kPositiveShare),
           "Ends the run when the test accuracy reaches this share.");
  list.Add("evaluate-every", Whole(goal.evaluate_every, {1, kMostRounds}),
           "Rounds between evaluations. The last round is always evaluated.");
  list.Check([&goal](OptionList& mistakes) {
    if (goal.rounds || goal.time_budget || goal.target_accuracy) return;
    mistakes.Fail(&goal.rounds,
                  " is missing; say when the run ends: rounds, time-budget, target-accuracy, or several");
  });
  return list;
}

namespace {

bool Federated(const Experiment& e) { return e.train.method == Method::kFederated; }
bool SplitFed(const Experiment& e) { return e.train.method == Method::kSplit && e.split.averages(); }
bool Local(const Experiment& e) { return Federated(e) || SplitFed(e) || e.train.method == Method::kGossip; }

constexpr Range kLearningRate{.high = 1e6, .above_low = true};
constexpr Range kTiny{.low = 1e-30, .high = 1e6};

void AddOptimiser(Training& train, OptionList& list) {
  OptimiserOptions& optimiser = train.optimiser;
  const Option::Condition sgd{[&optimiser] { return optimiser.name == "sgd"; }, "optimiser = \"sgd\""};
  const Option::Condition adam{[&optimiser] { return optimiser.name == "adam"; }, "optimiser = \"adam\""};
  list.Add("optimiser", OneOf(optimiser.name, {"sgd", "adam"}),
           "Optimiser of the devices (federated, gossip), of the coordinator (sync-sgd, split), or both "
           "(SplitFed).");
  list.Add("momentum", Number(optimiser.momentum, kBelowOne), "Momentum of SGD.", sgd);
  list.Add("nesterov", Flag(optimiser.nesterov), "Nesterov momentum.", sgd);
  list.Add("beta1", Number(optimiser.beta1, kBelowOne), "Adam: decay of the mean of gradients.", adam);
  list.Add("beta2", Number(optimiser.beta2, kBelowOne), "Adam: decay of the mean of squared gradients.",
           adam);
  list.Add("epsilon", Number(optimiser.epsilon, kTiny), "Adam: added to the denominator.", adam);
  list.Add("weight-decay", Number(optimiser.weight_decay, {.high = 1e6}), "Weight decay (L2 penalty).");
  list.Check([&optimiser](OptionList& mistakes) {
    if (optimiser.name == "sgd" && optimiser.nesterov && optimiser.momentum == 0) {
      mistakes.Fail(&optimiser.nesterov,
                    " looks ahead along the momentum, which is 0; set train.momentum, e.g. to 0.9");
    }
    // Other errors are found by the factory function.
    if (auto made = MakeOptimiser(optimiser, 0); !made.ok())
      mistakes.Fail(&optimiser.name, ": " + made.status().message());
  });
}

void AddSchedule(Training& train, const Goal& goal, OptionList& list) {
  ScheduleOptions& schedule = train.schedule;
  const Option::Condition step{[&schedule] { return schedule.name == "step"; }, "schedule = \"step\""};
  list.Add("learning-rate", Number(schedule.learning_rate, kLearningRate),
           "Learning rate before the schedule.")
      .Otherwise([&train] { train.schedule.learning_rate = train.optimiser.name == "sgd" ? 0.05 : 0.001; },
                 "0.05 with sgd, 0.001 with adam");
  list.Add("schedule", OneOf(schedule.name, {"constant", "step", "cosine"}),
           "Learning-rate schedule over rounds.");
  list.Add("milestones", Wholes(schedule.milestones, {1, kMostRounds}),
           "Rounds after which the learning rate is multiplied by factor.", step)
      .RequiredIf(step.holds, "; with schedule = \"step\" it lists the rounds at which the rate is cut");
  list.Add("factor", Number(schedule.factor, kPositiveShare),
           "Factor of the learning rate at each milestone.", step);
  list.Add("floor", Number(schedule.floor, kNotNegative), "Learning rate at the end of the cosine schedule.")
      .OnlyWith([&schedule] { return schedule.name == "cosine"; }, "schedule = \"cosine\"");
  list.Add("warmup", Whole(schedule.warmup_steps, {0, kMostRounds}), "Rounds of linear warm-up.");
  list.Check([&schedule, &goal](OptionList& mistakes) {
    if (schedule.name == "cosine" && !goal.rounds) {
      mistakes.Fail(&schedule.name,
                    " is \"cosine\", which depends on the length of the run; set experiment.rounds");
    }
    if (auto made = Schedule::Make(schedule); !made.ok()) {
      const void* field = &schedule.name;
      if (mistakes.Given(&schedule.milestones)) field = &schedule.milestones;
      if (mistakes.Given(&schedule.floor)) field = &schedule.floor;
      mistakes.Fail(field, ": " + made.status().message());
    }
  });
}

OptionList ServerOptimiserKeys(ServerOptimiser& server) {
  OptionList list;
  const auto momentum = [&server] { return server.kind == ServerOptimiserKind::kMomentum; };
  const Option::Condition adaptive{[&server] {
                                     return server.kind == ServerOptimiserKind::kAdam ||
                                            server.kind == ServerOptimiserKind::kYogi;
                                   },
                                   "kind = \"adam\" or \"yogi\""};
  list.Add("kind", OneOf(server.kind, kServerOptimisers), "FedAvg (none), FedAvgM, FedAdam or FedYogi.")
      .Required();
  list.Add("learning-rate", Number(server.learning_rate, kLearningRate), "Learning rate of the coordinator.")
      .OnlyWith([&server] { return server.kind != ServerOptimiserKind::kNone; },
                "kind = \"momentum\", \"adam\" or \"yogi\"")
      .Otherwise([&server, adaptive] { server.learning_rate = adaptive.holds() ? 0.01 : 1; },
                 "1 with momentum, 0.01 with adam and yogi");
  list.Add("momentum", Number(server.momentum, kBelowOne), "Momentum over rounds.")
      .OnlyWith(momentum, "kind = \"momentum\"");
  list.Add("beta1", Number(server.beta1, kBelowOne), "Decay of the mean of updates.", adaptive);
  list.Add("beta2", Number(server.beta2, kBelowOne), "Decay of the mean of squared updates.", adaptive);
  list.Add("tau", Number(server.tau, kTiny), "Larger adapts less to each parameter.", adaptive);
  return list;
}

OptionList AugmentKeys(AugmentOptions& augment) {
  OptionList list;
  list.Add("flip", Flag(augment.flip), "Mirror left and right, with probability 1/2.");
  list.Add("padding", Whole(augment.padding, {0, 64}), "Shift by up to this many pixels each way.");
  return list;
}

// A table, or the name of a preset.
ValueForm AugmentForm(AugmentOptions& augment, const DataChoice& data) {
  ValueForm form = Inline(&augment, [&augment] { return AugmentKeys(augment); });
  const auto named = [&augment, &data](std::string& word) {
    return NameForm(
        &augment, "augmentation", {"auto", "none", "standard"}, [&word] { return word; },
        [&augment, &data](const std::string& name) {
          // Photographs are invariant to mirroring and shifts; drawings and digits need not be.
          if (name == "standard" || (name == "auto" && data.set.starts_with("cifar")))
            augment = {.flip = true, .padding = 4};
        });
  };
  form.read = [named, table = form.read](const Value& value, const Spot& spot) {
    std::string word;
    return std::holds_alternative<Table>(value.content) ? table(value, spot) : named(word).read(value, spot);
  };
  form.allowed = [named, &augment]() -> Allowed {
    std::string word;
    const Allowed words = named(word).allowed();
    return {words.words + ", or a table",
            "\"anyOf\": [{" + words.schema + "}, {" + AugmentKeys(augment).Schema() + "}]"};
  };
  return form;
}

void AddLocalWork(Experiment& e, OptionList& list) {
  Training& train = e.train;
  list.Add("method", OneOf(train.method, kMethods), "Training method.").Required();
  list.Add(
      "batch", Whole(train.batch, {1, 1'000'000}),
      "Samples in one step of one device; of all devices together with split, unless its variant averages.");
  list.Add("local-steps", Whole(train.local_steps, {1, kMostRounds}),
           "Steps of a device between two exchanges. More saves traffic, but devices diverge.")
      .OnlyWith([&e] { return Local(e); },
                "method = \"federated\" or \"gossip\", or \"split\" with a split.variant that averages "
                "(splitfed-v1, splitfed-v2)");
  list.Add("local-epochs", Whole(train.local_epochs, {1, kMostRounds}),
           "Passes of a device over its samples between two exchanges, instead of local-steps.")
      .OnlyWith([&e] { return Local(e); }, "method = \"federated\" or \"gossip\"");
  list.Check([&e, &train](OptionList& mistakes) {
    if (SplitFed(e) && train.local_steps.value_or(1) > kMostSplitSteps) {
      mistakes.Fail(&train.local_steps, " is " + std::to_string(*train.local_steps) +
                                            "; allowed where a network is cut: 1 to " +
                                            std::to_string(kMostSplitSteps) +
                                            ", since data sent over the cut are stored until the round ends");
    }
    if (SplitFed(e) && train.local_epochs) {
      mistakes.Fail(&train.local_epochs,
                    ": devices with more samples would cross the cut more often; use local-steps");
    }
    if (train.local_steps && train.local_epochs) {
      mistakes.Fail(&train.local_epochs,
                    " and train.local-steps are both given; a device does one or the other");
    } else if (Federated(e) && !train.local_steps && !train.local_epochs) {
      mistakes.Fail(&train.local_steps, " is missing; with method = \"federated\" give it, or local-epochs");
    }
  });
}

}  // namespace

OptionList TrainKeys(Experiment& e, const OptionContext&) {
  Training& train = e.train;
  OptionList list;
  AddLocalWork(e, list);
  AddOptimiser(train, list);
  AddSchedule(train, e.goal, list);
  list.Add("label-smoothing", Number(train.label_smoothing, kBelowOne), "Label smoothing.");
  list.Add("augment", AugmentForm(train.augment, e.data),
           "Data augmentation; standard is { flip, padding = 4 }.")
      .Otherwise(
          [&e] {
            if (e.data.set.starts_with("cifar")) e.train.augment = {.flip = true, .padding = 4};
          },
          "\"auto\": standard for CIFAR, none for others");
  list.Add("calibrate", Whole(train.calibrate, {0, kMostRounds}),
           "Batches per device that re-estimate the statistics of batch norms before an evaluation.")
      .OnlyWith([&train] { return train.method != Method::kSplit || train.calibrate == 0; },
                "a method whose devices have the whole network");
  list.Add("prox", Number(train.prox, {.high = 1e6}), "Weight of the proximal term (FedProx).")
      .OnlyWith([&e] { return Federated(e); }, "method = \"federated\"");
  const auto none = [&train] { return train.server_optimiser.kind == ServerOptimiserKind::kNone; };
  list.Add("server-optimiser",
           Inline(&train.server_optimiser, [&train] { return ServerOptimiserKeys(train.server_optimiser); }),
           "How the coordinator moves the model along the mean update.")
      .OnlyWith([&e, none] { return none() || Federated(e) || SplitFed(e); },
                "method = \"federated\", or \"split\" with a split.variant that averages (splitfed-v1, "
                "splitfed-v2)")
      .WrittenIf([&e, none] { return Federated(e) || !none(); });
  return list;
}

OptionList TransferKeys(Experiment& e, const OptionContext&) {
  TransferOptions& transfers = e.transfers;
  OptionList list;
  const auto follows = [&transfers] {
    return transfers.strategy == TransferStrategy::kIBatch ||
           transfers.strategy == TransferStrategy::kOptimal;
  };
  list.Add("strategy", OneOf(transfers.strategy, kTransferStrategies),
           "How the layers are grouped into messages that overlap with computation (DynaComm).");
  list.Add("largest-segment", Size(transfers.largest_segment),
           "Largest message; a larger layer is one message.");
  list.Add("drift", Number(transfers.drift, {.high = 10, .above_low = true}),
           "Plan again when the duration of a step differs from the plan by this share.")
      .OnlyWith([&transfers, follows] { return follows() || transfers.drift == TransferOptions{}.drift; },
                "strategy = \"ibatch\" or \"optimal\"")
      .WrittenIf(follows);
  return list;
}

}  // namespace tributary::inline experiment
