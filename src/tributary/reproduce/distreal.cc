// Devices whose computation differs and changes within a round, and what they do about it: wait for each other, leave the
// slow ones out, make the network small, or train as much of it as each can afford.

#include "tributary/experiment/presets.h"
#include "tributary/reproduce/study.h"

namespace tributary::inline reproduce {
namespace {

// What is learned, and by devices of which speed: as fast that a strong one trains the whole network in two thirds of a round.
struct Task {
  std::string set, network, split = "iid";
  double strong = 1e9;                           // multiply-accumulates in a second
  std::int64_t train_limit = 0, test_limit = 0;  // none if 0
  std::int64_t rounds = 0, calibrate = 2;
  double learning_rate = 0.05;
  double target = 0;
};

// Recordings of phones and watches are learned to the end in minutes. Images take longer, and in little time only show how
// learning begins; where there is neither, drawn shapes show that everything works.
Task Choose(bool full, const std::filesystem::path& data_dir) {
  const auto have = [&](const char* set) {
    std::error_code error;
    return !data_dir.empty() && std::filesystem::is_directory(data_dir / set, error);
  };
  if (!full && have("har")) return {"har", "har-cnn", "source", 100e6, 0, 0, 120, 0, 0.1, 0.86};
  if (full && have("cifar10")) return {"cifar10", "resnet8", "iid", 1e9, 30'000, 5'000, 200, 2, 0.05, 0.45};
  return {
      "glyphs", "resnet8",       "iid", 1e9, full ? 30'000 : 12'000, full ? 5'000 : 2'000, full ? 200 : 40, 2,
      0.05,     full ? 0.6 : 0.3};
}

// Four devices each; what they have of their processors changes every two seconds, three times in a round.
Group Devices(std::string name, double compute, double uplink, double least) {
  Group group;
  group.name = std::move(name);
  group.count = 4;
  group.compute = Distribution::Constant(compute);
  group.uplink = group.downlink = Distribution::Constant(uplink);
  group.availability = RandomSteps{std::chrono::seconds(2), least, 1};
  return group;
}

Experiment Base(const Task& task) {
  Experiment experiment;
  experiment.goal.name = "distreal";
  experiment.goal.rounds = task.rounds;
  experiment.goal.evaluate_every = std::max<std::int64_t>(2, task.rounds / 40);
  experiment.model.name = task.network;
  experiment.data.set = task.set;
  experiment.data.split.kind = task.split;
  if (task.train_limit > 0) experiment.data.train_limit = task.train_limit;
  if (task.test_limit > 0) experiment.data.test_limit = task.test_limit;
  experiment.fleet.groups = {Devices("strong", task.strong, 50e6, 0.6),
                             Devices("middle", 0.7 * task.strong, 20e6, 0.4),
                             Devices("weak", 0.4 * task.strong, 20e6, 0.3)};
  experiment.fleet.deadline = std::chrono::seconds(6);
  experiment.train.method = Method::kFederated;
  experiment.train.local_steps = 8;
  experiment.train.batch = 16;
  experiment.train.optimiser.momentum = 0.9;
  experiment.train.schedule.name = "cosine";
  experiment.train.schedule.learning_rate = task.learning_rate;
  experiment.train.calibrate = task.calibrate;
  return experiment;
}

}  // namespace

StatusOr<Study> MakeDistrealStudy(Effort effort, const std::filesystem::path& data_dir) {
  const Task task = Choose(effort == Effort::kFull, data_dir);
  TRIBUTARY_ASSIGN_OR_RETURN(ParetoFront explored, BuiltInFront(task.network));
  const auto front = std::make_shared<const ParetoFront>(std::move(explored));
  const Experiment base = Base(task);

  Study study;
  study.seeds = {1, 2, 3};
  study.target_accuracy = task.target;
  const auto add = [&](const std::string& name, const std::string& text, const auto& change) {
    Experiment experiment = base;
    change(experiment);
    AddArm(study, name, text, std::move(experiment));
  };
  const auto choose = [&](const std::string& name, const std::string& text, DropoutMethod method) {
    add(name, text, [&](Experiment& experiment) { experiment.dropout.method = method; });
  };
  add("full-resources", "all devices strong, and all the time: the most there is to reach",
      [&](Experiment& experiment) {
        for (Group& group : experiment.fleet.groups) {
          group.compute = Distribution::Constant(task.strong);
          group.availability = 1.0;
        }
      });
  add("full-waiting", "the whole network on all, however long it takes",
      [](Experiment& experiment) { experiment.fleet.deadline.reset(); });
  add("full", "the whole network on all; who is late is left out", [](Experiment&) {});
  for (const double width : {0.125, 0.25}) {
    const bool eighth = width == 0.125;
    add(eighth ? "small-eighth" : "small-quarter",
        std::string("a network with ") + (eighth ? "an eighth" : "a quarter") +
            " of the channels on all, which the weakest can train",
        [&](Experiment& experiment) {
          experiment.dropout.method = DropoutMethod::kSmall;
          experiment.dropout.width = width;
        });
  }
  choose("uniform", "Federated Dropout: random channels for a round, one width in all layers",
         DropoutMethod::kUniform);
  choose("heterofl", "HeteroFL: the first channels, by what the device has when the round begins",
         DropoutMethod::kHeteroFl);
  choose("fjord", "FjORD: the first channels, at each step of a random width", DropoutMethod::kFjord);
  choose("fedrolex", "FedRolex: a window of channels that rolls from round to round",
         DropoutMethod::kFedRolex);
  const auto pareto = [&](ChannelChoice channels, MeanOver mean) {
    return [&, channels, mean](Experiment& experiment) {
      experiment.dropout.method = DropoutMethod::kPareto;
      experiment.dropout.front = front;
      experiment.dropout.channels = channels;
      experiment.dropout.mean = mean;
    };
  };
  add("pareto-published",
      "DISTREAL: random channels at each step, the best explored vector that fits; mean over all",
      pareto(ChannelChoice::kRandom, MeanOver::kAll));
  add("pareto-counted", "likewise, but the mean of an element is over those that trained it",
      pareto(ChannelChoice::kRandom, MeanOver::kTrained));
  add("pareto", "likewise, and the first channels instead of random ones",
      pareto(ChannelChoice::kFirst, MeanOver::kTrained));

  Reproduction& reproduction = study.reproduction;
  reproduction.name = "distreal";
  reproduction.about =
      "DISTREAL (Rapp et al., AAAI 2022): twelve devices of three speeds, whose processors are taken from "
      "them and given "
      "back within a round, train " +
      task.network + " on " + task.set +
      " in rounds of 8 steps of 16 samples and of 6 seconds. All methods see "
      "the same availability.";
  reproduction.metrics = {{"time to target", "s", Metric::Better::kLower, {.decimals = 0}},
                          {"final accuracy", "", Metric::Better::kHigher, {.decimals = 2, .percent = true}},
                          {"accuracy", "", Metric::Better::kHigher, {.decimals = 2, .percent = true}},
                          {"seconds per round", "s", Metric::Better::kLower, {.decimals = 2}},
                          {"waiting share", "", Metric::Better::kLower, {.decimals = 1, .percent = true}}};
  reproduction.comparisons = {{"against full resources",
                               "final accuracy",
                               BaselineComparison::Kind::kDifference,
                               AgainstOne(reproduction.arms, "full-resources"),
                               {.decimals = 2, .percent = true}},
                              {"sooner than heterofl",
                               "time to target",
                               BaselineComparison::Kind::kSpeedUp,
                               AgainstOne(reproduction.arms, "heterofl"),
                               {.decimals = 2}}};
  reproduction.chart = {"Accuracy of devices with changing resources",
                        "virtual seconds",
                        "test accuracy",
                        false,
                        {{study.target_accuracy, "target"}}};
  reproduction.notes = {
      "A step on a sub-network is charged the share of the whole network's multiply-accumulates that it "
      "keeps. Devices that "
      "choose do so by what fits until the deadline: pareto at every step, the others when the round begins.",
      "The front is that of presets/fronts/" + task.network + ".json, explored with the first channels.",
      "The paper's tables are not at hand; what is compared is accuracy over time under the same resources."};
  return study;
}

}  // namespace tributary::inline reproduce
