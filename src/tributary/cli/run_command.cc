#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "tributary/base/file.h"
#include "tributary/base/status.h"
#include "tributary/base/text_table.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/run_lists.h"
#include "tributary/cli/run_options.h"
#include "tributary/cli/shared_options.h"
#include "tributary/coordinator/finished_run.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/presets.h"
#include "tributary/store/comparison.h"
#include "tributary/store/run_files.h"
#include "tributary/telemetry/progress.h"

namespace tributary::inline cli {
namespace run_command {

// An experiment and its [against] variant side by side.
struct ComparedPair {
  Comparison comparison;               // the variant is first
  std::uint64_t buffered[2] = {0, 0};  // maximum over rounds, summed over devices
};

std::uint64_t MostBuffered(const RunHistory& history) {
  std::uint64_t most = 0;
  for (const RoundRecord& round : history.rounds) most = std::max(most, round.finished.buffered);
  return most;
}

// "4.50× sooner", "1.20× later".
std::string Times(std::optional<double> ratio, const char* better, const char* worse) {
  if (!ratio) return "";
  return fmt::format("{:.2f}× {}", std::max(*ratio, 1 / *ratio), *ratio >= 1 ? better : worse);
}

std::string Reaching(const ComparedRun& run, std::string (*format)(const Reached&)) {
  return run.reached ? format(*run.reached) : "never";
}

// Compares the runs in two folders and writes against.svg to the second. `target` is the accuracy to compare
// at, by default the highest whole percent that both reached.
StatusOr<ComparedPair> ComparePair(const std::filesystem::path& against, const std::filesystem::path& folder,
                                   std::optional<double> target) {
  std::vector<RunHistory> runs;
  for (const std::filesystem::path& path : {against, folder}) {
    TRIBUTARY_ASSIGN_OR_RETURN(runs.emplace_back(), HistoryOfFolder(path));
  }
  if (!target) target = CommonTarget(runs);
  ComparedPair pair{.comparison = Compare(runs, target.value_or(0)),
                    .buffered = {MostBuffered(runs[0]), MostBuffered(runs[1])}};
  TRIBUTARY_RETURN_IF_ERROR(
      WriteFileAtomically(folder / "against.svg", DrawComparison(runs, pair.comparison.target)));
  return pair;
}

// One line per measure, for people.
std::string FormatPair(const ComparedPair& pair) {
  const ComparedRun &first = pair.comparison.runs[0], &second = pair.comparison.runs[1];
  const std::string at = FormatShare(pair.comparison.target);
  TextTable table({"", Printable(first.run.name), Printable(second.run.name), ""},
                  TextTable::Right::kAllButFirst);
  const auto reaching = [&](const std::string& what, std::string (*format)(const Reached&),
                            const std::string& ratio) {
    table.AddRow({what + " to " + at, Reaching(first, format), Reaching(second, format), ratio});
  };
  reaching(
      "time", [](const Reached& reached) { return FormatDuration(reached.time); },
      Times(second.sooner, "sooner", "later"));
  reaching(
      "rounds", [](const Reached& reached) { return std::to_string(reached.round.value); },
      Times(second.fewer_rounds, "fewer", "more"));
  reaching(
      "bytes", [](const Reached& reached) { return FormatBytes(reached.bytes); },
      Times(second.fewer_bytes, "fewer", "more"));
  table.AddRow({"devices' time spent waiting", FormatShare(first.run.waiting_share()),
                FormatShare(second.run.waiting_share()), ""});
  if (pair.buffered[0] > 0 || pair.buffered[1] > 0) {  // experiments with streams
    table.AddRow({"samples in buffers, at most", FormatThousands(static_cast<std::int64_t>(pair.buffered[0])),
                  FormatThousands(static_cast<std::int64_t>(pair.buffered[1])), ""});
  }
  table.AddRow({"final accuracy", FormatShare(first.run.accuracy), FormatShare(second.run.accuracy), ""});
  return table.Format();
}

// ComparisonJson, with "buffered" of each run.
nlohmann::ordered_json PairJson(const ComparedPair& pair) {
  nlohmann::ordered_json json = ComparisonJson(pair.comparison);
  for (std::size_t i = 0; i < 2; ++i) json["runs"][i]["buffered"] = pair.buffered[i];
  return json;
}

struct Arguments {
  std::string experiment = "default";
  CommonRunOptions run;
  std::filesystem::path data_dir;
  int threads = 1;
  std::string device = "cpu";
  WatchOptions watch;
  bool alone = false;
  const Extensions* extensions = nullptr;
};

class OneRun {
 public:
  OneRun(const Arguments& arguments, const Experiment& experiment, std::filesystem::path folder)
      : arguments_(arguments), experiment_(experiment), folder_(std::move(folder)) {}

  Status Run(TorchDevice device, const InterruptGuard& interrupt) {
    SimulationOptions options;
    options.data_dir = arguments_.data_dir;
    options.threads = static_cast<std::size_t>(arguments_.threads);
    options.device = device;
    options.folder = folder_;
    TRIBUTARY_ASSIGN_OR_RETURN(watchers_, Watchers::Open(arguments_.watch, experiment_, folder_,
                                                         /*simulated=*/true, /*resumed=*/false));
    options.watcher = &watchers_->sink();
    options.should_stop = [&] { return interrupt.interrupted(); };
    TRIBUTARY_ASSIGN_OR_RETURN(result_, Simulate(experiment_, options));
    watchers_->Close(result_);
    std::fflush(stdout);
    return OkStatus();
  }

  // The result for people, without the report.
  void Print() const {
    if (!arguments_.watch.quiet) PrintDevices(result_);
    if (experiment_.model.compute_as) {
      Say("time and bytes are those of {}; {} was trained in its place\n", *experiment_.model.compute_as,
          experiment_.model.name);
    }
    if (result_.run.accuracy) Say("accuracy {:.2f} %, ", 100 * *result_.run.accuracy);
    Say("{} rounds, {} of virtual time ({} of ours), {} down and {} up\n", result_.run.rounds,
        FormatDuration(result_.time), FormatDuration(watchers_->clock().Now()), FormatBytes(result_.down),
        FormatBytes(result_.up));
    Say("run folder {}\ndigest {}\n", folder_.c_str(), result_.digest);
  }
  void Report(std::FILE* out) const { watchers_->Report(folder_, out); }
  // Closes the outputs and frees the dashboard's address.
  void Leave() { watchers_.reset(); }
  std::string Summary() const { return FormatSummary(experiment_, result_); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  const Arguments& arguments_;
  const Experiment& experiment_;
  const std::filesystem::path folder_;
  std::unique_ptr<Watchers> watchers_;
  FinishedRun result_;
};

Status RunAlone(const Arguments& arguments, const Experiment& experiment, TorchDevice device) {
  OneRun run(arguments, experiment, FolderOf(arguments.run, experiment.goal));
  const InterruptGuard interrupt;
  TRIBUTARY_RETURN_IF_ERROR(run.Run(device, interrupt));
  if (arguments.watch.json) {
    std::fputs(run.Summary().c_str(), stdout);
  } else {
    run.Print();
  }
  run.Report(arguments.watch.json ? stderr : stdout);
  return OkStatus();
}

Status RunBoth(const Arguments& arguments, const Experiment& experiment, const Experiment& against,
               TorchDevice device) {
  std::filesystem::path folder = FolderOf(arguments.run, experiment.goal),
                        other = FolderOf(arguments.run, against.goal);
  if (!arguments.run.out.empty()) {
    if (!folder.has_filename()) folder = folder.parent_path();
    other = folder.string() + against.goal.name.substr(experiment.goal.name.size());
  }
  const InterruptGuard interrupt;
  OneRun first(arguments, against, other), second(arguments, experiment, folder);
  std::FILE* const out = arguments.watch.json ? stderr : stdout;
  TRIBUTARY_RETURN_IF_ERROR(first.Run(device, interrupt));
  if (!arguments.watch.json) first.Print();
  first.Report(out);
  first.Leave();
  if (interrupt.interrupted()) {
    Say(stderr, "stopped before the second run\n");
    return OkStatus();
  }
  Say(out, "\n");
  TRIBUTARY_RETURN_IF_ERROR(second.Run(device, interrupt));
  if (!arguments.watch.json) second.Print();
  TRIBUTARY_ASSIGN_OR_RETURN(const ComparedPair pair,
                             ComparePair(first.folder(), second.folder(), experiment.goal.target_accuracy));
  if (arguments.watch.json) {
    auto json = nlohmann::ordered_json::parse(second.Summary());
    json["against"] = nlohmann::ordered_json::parse(first.Summary());
    json["comparison"] = PairJson(pair);
    TRIBUTARY_RETURN_IF_ERROR(PrintJson(json));
  } else {
    Say("\n{}\npicture {}\n", FormatPair(pair), (second.folder() / "against.svg").c_str());
  }
  second.Report(out);
  return OkStatus();
}

Status Run(const Arguments& arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(
      const ExperimentPair pair,
      FindExperimentPair(arguments.experiment, arguments.run.Overrides(), *arguments.extensions));
  TRIBUTARY_ASSIGN_OR_RETURN(const TorchDevice device, FindTorchDevice(arguments.device));
  if (!pair.against || arguments.alone) return RunAlone(arguments, pair.experiment, device);
  return RunBoth(arguments, pair.experiment, *pair.against, device);
}

}  // namespace run_command

void AddRunCommand(CLI::App& app, Action& action) {
  using namespace run_command;
  auto [command, a] =
      AddCommand(app, action, Run, "run", "Run an experiment on a simulated fleet of unequal devices");
  a.extensions = &action.extensions;
  AddDefaulted(command, "experiment", a.experiment,
               "Preset (see 'tributary presets') or path of a TOML file");
  AddOverrideOptions(command, a.run);
  AddDataDirOption(command, a.data_dir);
  AddThreadsOption(command, a.threads);
  AddTorchDeviceOption(command, a.device);
  command.add_flag("--alone", a.alone, "Skip the run to compare with ([against] in the experiment)");
  AddOutOption(command, a.run);
  AddWatchOptions(command, a.watch);
  command.footer(
      "Ctrl-C ends the run after the current round and writes its folder.\n"
      "Examples:\n"
      "  tributary run                       # the default fleet, without and with all mechanisms\n"
      "  tributary run --alone --set compression=   # skip the baseline, no compression\n"
      "  tributary run har --dashboard\n"
      "  tributary run fedavg --set train.method=sync-sgd --set experiment.rounds=100 --seed 2");
}

}  // namespace tributary::inline cli
