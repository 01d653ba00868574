#include <nlohmann/json.hpp>

#include "tributary/base/file.h"
#include "tributary/base/names.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/shared_options.h"
#include "tributary/experiment/quantity.h"
#include "tributary/explore/exploration.h"
#include "tributary/explore/uniform_comparison.h"
#include "tributary/fleet/front_file.h"
#include "tributary/model/adapt_graph.h"
#include "tributary/model/subnetwork_graph.h"
#include "tributary/model/zoo.h"
#include "tributary/onnx/network_file.h"
#include "tributary/plot/line_chart.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace explore_command {

using Json = nlohmann::ordered_json;

// Share of the budget for the search; the rest is for the comparison with uniform vectors.
constexpr double kShareOfSearch = 0.85;

struct Arguments {
  std::string model;
  std::string stem = "auto";
  DataOptions data;
  std::string cost = "time";
  std::string profile;
  std::string channels = "random";
  std::string scaling = "auto";
  ExploreOptions options;
  int threads = 1;
  double budget_minutes = 10;
  std::optional<std::uint64_t> generations;
  std::size_t repeats = 3;
  std::string out;
  std::string plot;
  bool resume = false;
  bool json = false;
  bool quiet = false;
};

std::string LossText(const std::optional<double>& loss) { return loss ? fmt::format("{:.4f}", *loss) : "–"; }

std::string StandingText(const Exploration::Standing& standing) {
  if (standing.evaluated == 0) {
    if (standing.snapshots == kSnapshots) return fmt::format("first vectors, {} screened", standing.screened);
    return fmt::format("snapshot {} of {}", standing.snapshots + 1, kSnapshots);
  }
  return fmt::format("generation {}, {} evaluated, {} on the front, hypervolume {:.4f}, loss at half cost {}",
                     standing.generation, standing.evaluated, standing.on_front, standing.hypervolume,
                     LossText(standing.loss_at_half_cost));
}

LineChart ChartOf(const ParetoFront& front, const FrontExtras& extras) {
  LineChart chart;
  chart.title = front.model + " on " + extras.data + ": cost and convergence of sub-networks";
  chart.x_title = front.cost == FrontCost::kTime ? "time of a step (ms)" : "multiply-accumulates of a sample";
  chart.y_title = "loss after a short training";
  const auto add = [&](const char* name, const std::vector<FrontPoint>& points) {
    LineSeries& series = chart.series.emplace_back();
    series.name = name;
    for (const FrontPoint& point : points) {
      // Diverged vectors would compress the scale.
      if (front.untrained && point.convergence > 2 * *front.untrained) continue;
      series.points.push_back({point.Cost(front.cost), point.convergence});
    }
  };
  add("explored", front.points);
  add("uniform", extras.uniform);
  if (front.untrained) chart.references.push_back({*front.untrained, "no training"});
  return chart;
}

Json SummaryJson(const Arguments& arguments, const ParetoFront& front, const FrontExtras& extras,
                 const Exploration::Standing& standing, bool interrupted, double seconds) {
  Json against_uniform;
  if (extras.comparison) {
    const ComparisonTally tally = TallyOf(*extras.comparison, front.cost);
    against_uniform = {{"better", tally.better},
                       {"same", tally.same},
                       {"worse", tally.worse},
                       {"clearly_better", tally.clearly_better},
                       {"clearly_worse", tally.clearly_worse}};
  }
  return {{"model", front.model},
          {"data", extras.data},
          {"out", arguments.out},
          {"seed", extras.seed},
          {"interrupted", interrupted},
          {"seconds", seconds},
          {"generations", standing.generation},
          {"screened", standing.screened},
          {"evaluated", standing.evaluated},
          {"confirmed", standing.confirmed},
          {"saved_steps", standing.saved},
          {"front", standing.on_front},
          {"hypervolume", standing.hypervolume},
          {"untrained_loss", standing.untrained ? Json(*standing.untrained) : Json()},
          {"full_loss", standing.full_loss ? Json(*standing.full_loss) : Json()},
          {"loss_at_half_cost", standing.loss_at_half_cost ? Json(*standing.loss_at_half_cost) : Json()},
          {"against_uniform", against_uniform}};
}

void PrintSummary(const Arguments& arguments, const ParetoFront& front, const FrontExtras& extras,
                  const Exploration::Standing& standing, bool interrupted, double seconds) {
  Say("{} after {}: {}\n", interrupted ? "interrupted" : "done", FormatDuration(FromSeconds(seconds)),
      StandingText(standing));
  Say("{} sub-networks screened, {} of them evaluated (which saved {:.0f} % of the steps), {} confirmed\n",
      standing.screened, standing.evaluated, 100 * standing.saved, standing.confirmed);
  Say("The loss is {} without training and {} after that of the full network\n", LossText(standing.untrained),
      LossText(standing.full_loss));
  if (extras.comparison) {
    const ComparisonTally tally = TallyOf(*extras.comparison, front.cost);
    Say("\nUniform vectors against the front, each the costliest within a share of "
        "the full network's cost,\ntrained {} times with new seeds:\n{}The front is better over "
        "{:.0f} % of the range (by more than the deviation over {:.0f} %), the same vector over {:.0f} %, "
        "worse over {:.0f} % ({:.0f} %).\n",
        extras.comparison->front.front().losses.size(), DescribeComparison(*extras.comparison, front.cost),
        100 * tally.better, 100 * tally.clearly_better, 100 * tally.same, 100 * tally.worse,
        100 * tally.clearly_worse);
  }
  Say("wrote {}; continue with --resume\n", arguments.out);
}

// Searches until the time is over (Cancelled), the number of generations is reached or nothing new is found,
// and saves after every generation.
Status Search(Exploration& exploration, const std::filesystem::path& state,
              std::optional<std::uint64_t> generations, const Exploration::Watch& watch) {
  TRIBUTARY_RETURN_IF_ERROR(exploration.Prepare(watch));
  TRIBUTARY_RETURN_IF_ERROR(exploration.Save(state));
  for (std::size_t saved = 0; !generations || exploration.standing().generation < *generations;) {
    TRIBUTARY_ASSIGN_OR_RETURN(const bool more, exploration.Advance(watch));
    if (!more) return OkStatus();
    // Generations without new vectors are not saved.
    if (const std::size_t evaluated = exploration.standing().evaluated; evaluated != saved) {
      TRIBUTARY_RETURN_IF_ERROR(exploration.Save(state));
      saved = evaluated;
    }
    if (watch.should_stop()) return Cancelled("the budget is over");
  }
  return OkStatus();
}

// The cost model of the device that `text` names, without measuring here. Either
//   a rate as in `compute` of an experiment ("300M", "2GMAC/s"): a step costs its multiply-accumulates over
//     the rate, as in the simulator; or
//   a front that was explored on such a device (FILE.json): its fitted cost model.
StatusOr<CostModel> ReadCostProfile(const std::string& text) {
  if (!std::filesystem::exists(text)) {
    const auto rate = ParseQuantity(text, Unit::kMacsPerSecond);
    if (!rate.ok()) {
      return InvalidArgument(
          "--profile " + text + ": neither a file nor a rate; give the device's multiply-accumulates" +
          " per second (\"300M\", \"2G\"), or a front that was explored on it (FILE.json)");
    }
    if (*rate < 1) return InvalidArgument("--profile " + text + ": allowed: at least 1 MAC per second");
    return CostModel{.fixed = 0, .per_mac = 1 / *rate, .per_byte = 0};
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const ParetoFront front, ReadFront(text));
  const CostModel& model = front.cost_model;
  if (!(model.per_mac > 0 || model.per_byte > 0)) {
    return InvalidArgument(
        text + ": its cost model says that all sub-networks take the same time; explore it on the device");
  }
  return model;
}

Status ReadWords(Arguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(arguments.options.cost, ParseFrontCost(arguments.cost));
  if (!arguments.profile.empty()) {
    TRIBUTARY_ASSIGN_OR_RETURN(arguments.options.profile, ReadCostProfile(arguments.profile));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(arguments.options.channels, ParseChannelChoice(arguments.channels));
  const std::vector<std::string> known = {"auto", "none", "inverse"};
  if (std::ranges::find(known, arguments.scaling) == known.end())
    return UnknownName("scaling", arguments.scaling, known);
  arguments.options.screening_steps = std::min(arguments.options.screening_steps, arguments.options.steps);
  arguments.options.threads = static_cast<std::size_t>(arguments.threads);
  return CheckExploreOptions(arguments.options);
}

Status Run(Arguments arguments) {
  TRIBUTARY_RETURN_IF_ERROR(ReadWords(arguments));
  const std::filesystem::path state = arguments.out + ".state";
  for (const std::filesystem::path& path : {std::filesystem::path(arguments.out), state}) {
    TRIBUTARY_RETURN_IF_ERROR(CheckWritable(path));
  }
  if (!arguments.plot.empty()) TRIBUTARY_RETURN_IF_ERROR(CheckWritable(arguments.plot));
  if (!arguments.resume && std::filesystem::exists(state)) {
    return InvalidArgument(state.string() +
                           " is there from an exploration before; go on from it with --resume, choose "
                           "another --out, or delete it");
  }
  TRIBUTARY_ASSIGN_OR_RETURN(const Stem stem, ParseStem(arguments.stem));
  ZooOptions network{.name = arguments.model, .input = {}, .classes = {}, .stem = stem};
  if (IsOnnxName(arguments.model)) {
    TRIBUTARY_ASSIGN_OR_RETURN(OnnxNetwork brought, ReadOnnxNetwork(arguments.model));
    network.imported = std::make_shared<const Graph>(std::move(brought.graph));
  }
  TRIBUTARY_RETURN_IF_ERROR(BuildZooGraph(network).status());
  TRIBUTARY_ASSIGN_OR_RETURN(const TrainTest data, LoadData(arguments.data));
  network.input = data.train.shape();
  network.classes = data.train.classes();
  if (network.imported) {
    TRIBUTARY_ASSIGN_OR_RETURN(
        Graph fitted, FitToData(*network.imported, *network.input, *network.classes, /*new_head=*/false));
    network.imported = std::make_shared<const Graph>(std::move(fitted));
  }
  TRIBUTARY_ASSIGN_OR_RETURN(Graph graph, BuildZooGraph(network));
  const auto model = std::make_shared<const Model>(std::move(graph));
  arguments.options.scale_filters =
      arguments.scaling == "inverse" ||
      (arguments.scaling == "auto" && SuitableScaling(model->graph) == FilterScaling::kInverse);
  const auto clock = MakeRealClock();
  TRIBUTARY_ASSIGN_OR_RETURN(
      const auto exploration,
      Exploration::Make(arguments.options, model, data.train,
                        {{"model", arguments.model}, {"stem", arguments.stem}, {"data", arguments.data.name}},
                        *clock));
  if (arguments.resume) TRIBUTARY_RETURN_IF_ERROR(exploration->Resume(state));

  const bool talk = !arguments.json && !arguments.quiet;
  if (talk) {
    Say("Exploring {} ({} channel groups, {} MACs a sample) on {} for {}, cost is {}{}, {} thread{}\n",
        arguments.model, model->channels.groups.size(),
        FormatCount(static_cast<double>(TotalMacs(model->costs).value)), arguments.data.name,
        FormatDuration(FromSeconds(60 * arguments.budget_minutes)), arguments.cost,
        arguments.profile.empty() ? "" : " of " + arguments.profile, arguments.threads,
        arguments.threads == 1 ? "" : "s");
    std::fflush(stdout);
  }
  const double budget = 60 * arguments.budget_minutes;
  Progress progress(*clock, stderr,
                    {.style = arguments.quiet ? ProgressStyle::kQuiet : ProgressStyleFor(stderr),
                     .total = static_cast<std::uint64_t>(1000 * budget),
                     .bar = false});
  const auto elapsed = [&] { return ToSeconds(clock->Now()); };
  const InterruptGuard interrupt;
  double until = budget * (arguments.repeats > 0 ? kShareOfSearch : 1);
  Exploration::Watch watch;
  watch.should_stop = [&] { return interrupt.interrupted() || elapsed() >= until; };
  watch.on_news = [&] {
    progress.Update(static_cast<std::uint64_t>(1000 * elapsed()), StandingText(exploration->standing()));
  };
  const Status searched = Search(*exploration, state, arguments.generations, watch);
  if (!searched.ok() && searched.code() != StatusCode::kCancelled) return searched;
  if (!searched.ok()) TRIBUTARY_RETURN_IF_ERROR(exploration->Save(state));
  const std::optional<ParetoFront> front = exploration->Front();
  if (!front) {
    progress.Clear();
    if (!interrupt.interrupted()) {
      return ResourceExhausted(
          "the budget ended before the full network was evaluated; raise --budget and use --resume");
    }
    if (arguments.json)
      return PrintJson(Json{{"interrupted", true}, {"generations", 0}, {"evaluated", 0}, {"front", 0}});
    Say("interrupted before the full network was evaluated; continue with --resume\n");
    return OkStatus();
  }

  FrontExtras extras;
  extras.seed = arguments.options.seed;
  extras.generations = exploration->standing().generation;
  extras.evaluated = exploration->standing().evaluated;
  extras.data = arguments.data.name;
  extras.scaling = arguments.options.scale_filters ? "inverse" : "none";
  extras.input = FormatShape(model->graph.input_shape());
  extras.classes = model->graph.classes();
  extras.uniform = exploration->Uniform();
  // What was found is safe before it is compared.
  TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(arguments.out, FormatFront(*front, extras)));
  if (arguments.repeats > 0 && !interrupt.interrupted()) {
    until = budget;
    watch.on_news = [&] {
      progress.Update(static_cast<std::uint64_t>(1000 * elapsed()), "comparing with uniform vectors");
    };
    TRIBUTARY_ASSIGN_OR_RETURN(extras.comparison, CompareWithUniform(*exploration, arguments.repeats, watch));
    TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(arguments.out, FormatFront(*front, extras)));
  }
  progress.Clear();
  if (!arguments.plot.empty()) {
    TRIBUTARY_RETURN_IF_ERROR(WriteFileAtomically(arguments.plot, DrawLineChart(ChartOf(*front, extras))));
  }
  const auto shown = [&](const auto& show) {
    return show(arguments, *front, extras, exploration->standing(), interrupt.interrupted(), elapsed());
  };
  if (arguments.json) return PrintJson(shown(SummaryJson));
  shown(PrintSummary);
  return OkStatus();
}

void AddSearchOptions(CLI::App& command, Arguments& a) {
  ExploreOptions& options = a.options;
  AddDefaulted(command, "--population", options.population, "Population size; at least 10");
  AddDefaulted(command, "--seed", options.seed, "Same seed and options: the same search");
  AddDefaulted(
      command, "--cost", a.cost,
      "What is traded against convergence: time (of a step, as measured here or of --profile) or macs");
  AddOption(command, "--profile RATE|FILE.json", a.profile,
            "Times of another device instead of this machine: its MACs per second, as 'compute' "
            "in experiments, or a front that was explored on it");
  AddDefaulted(command, "--batch", options.batch, "Samples per mini-batch");
  AddDefaulted(command, "--lr", options.learning_rate, "Learning rate");
  AddDefaulted(command, "--momentum", options.momentum, "Momentum of SGD");
  AddDefaulted(command, "--steps", options.steps, "Mini-batches per snapshot that evaluate a vector");
  AddDefaulted(command, "--screening-steps", options.screening_steps,
               "Mini-batches that screen a vector before its evaluation");
  AddDefaulted(command, "--samples", options.samples, "Training samples for measuring the loss");
  AddDefaulted(command, "--snapshot-steps", options.snapshot_steps, "Training steps up to the last snapshot");
  AddDefaulted(command, "--channels", a.channels,
               "Channels that a step keeps: random (redrawn every step) or first; use the same on devices");
  AddDefaulted(command, "--scaling", a.scaling,
               "Scaling of the kept filters: none, inverse (1/keep rate), or auto");
  AddDefaulted(command, "--repeats", a.repeats,
               "Repetitions of training front and uniform vectors for the comparison")
      ->check(CLI::Range(0, 100));
}

}  // namespace explore_command

void AddExploreCommand(CLI::App& app, Action& action) {
  using namespace explore_command;
  auto [command, a] =
      AddCommand(app, action, Run, "explore",
                 "Find the Pareto front of a network's sub-networks, for devices to choose from");
  AddOption(command, "model", a.model, "A network of the zoo (see 'tributary models'), or FILE.onnx")
      ->required();
  AddStemOption(command, a.stem);
  AddDefaulted(
      command, "--data", a.data.name,
      "Data set, or a folder with X.npy and y.npy, with pictures or with recordings; see 'tributary data'");
  AddFolderOptions(command, a.data);
  AddOption(command, "--train-limit", a.data.train_limit, "Limit the number of training samples");
  AddDefaulted(command, "--budget", a.budget_minutes, "Time limit in minutes")
      ->check(CLI::Range(0.001, 100'000.0));
  AddOption(command, "--generations", a.generations,
            "Maximum number of generations, for the same front on every machine")
      ->check(CLI::Range(1, 1'000'000));
  AddSearchOptions(command, a);
  AddThreadsOption(command, a.threads);
  AddOption(command, "--out FILE.json", a.out, "File for the front; FILE.state beside it allows --resume")
      ->required();
  AddOption(command, "--plot FILE.svg", a.plot, "Write a plot of the front and the uniform vectors");
  command.add_flag("--resume", a.resume, "Continue from FILE.state");
  AddJsonFlag(command, a.json);
  command.add_flag("--quiet", a.quiet, "Print the result only");
  command.footer(
      "Ctrl-C writes the front found so far and saves the state; --resume continues.\n"
      "Examples:\n"
      "  tributary explore resnet8 --data cifar10 --out front.json --plot front.svg\n"
      "  tributary explore cnn --data glyphs --budget 2 --cost macs --out front.json\n"
      "  tributary explore resnet8 --data cifar10 --profile 300M --out phone.json");
}

}  // namespace tributary::inline cli
