#include <cstdio>
#include <nlohmann/json.hpp>

#include "tributary/cli/commands.h"
#include "tributary/cli/free_folder.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/pair_report.h"
#include "tributary/cli/run_report.h"
#include "tributary/cli/shared_options.h"
#include "tributary/cli/watch_options.h"
#include "tributary/coordinator/run_summary.h"
#include "tributary/coordinator/simulation.h"
#include "tributary/experiment/presets.h"
#include "tributary/telemetry/live_view.h"

namespace tributary {
namespace {

struct Arguments {
  std::string experiment = "default";
  std::vector<std::string> overrides;
  std::optional<std::uint64_t> seed;
  std::filesystem::path data_dir;
  int threads = 1;
  std::string device = "cpu";
  std::string out;
  WatchOptions watch;
  bool alone = false;
  bool json = false;
  bool quiet = false;
};

// One run of an experiment, watched and reported.
class OneRun {
 public:
  OneRun(const Arguments& arguments, const Experiment& experiment, std::filesystem::path folder)
      : arguments_(arguments), experiment_(experiment), folder_(std::move(folder)) {}

  Status Run(TorchDevice device, const InterruptGuard& interrupt) {
    clock_ = MakeRealClock();
    SimulationOptions options;
    options.data_dir = arguments_.data_dir;
    options.threads = static_cast<std::size_t>(arguments_.threads);
    options.device = device;
    options.folder = folder_;
    std::FILE* const view_out = arguments_.json ? stderr : stdout;
    LiveView view(*clock_, view_out,
                  {.style = arguments_.quiet ? ProgressStyle::kQuiet : ProgressStyleFor(view_out)});
    TRIBUTARY_ASSIGN_OR_RETURN(watchers_,
                               Watchers::Open(arguments_.watch, experiment_, folder_, /*simulated=*/true,
                                              /*resumed=*/false, view, view_out));
    options.watcher = &watchers_->sink();
    options.should_stop = [&] { return interrupt.interrupted(); };
    TRIBUTARY_ASSIGN_OR_RETURN(result_, Simulate(experiment_, options));
    watchers_->Close(result_);
    std::fflush(stdout);
    return OkStatus();
  }

  // For a person, but for the report.
  void Print() const {
    if (!arguments_.quiet) PrintDevices(result_);
    if (experiment_.model.compute_as) {
      std::printf("time and bytes are those of %s; %s was trained in its place\n",
                  experiment_.model.compute_as->c_str(), experiment_.model.name.c_str());
    }
    if (result_.run.accuracy) std::printf("accuracy %.2f %%, ", 100 * *result_.run.accuracy);
    std::printf("%llu rounds, %s of virtual time (%s of ours), %s down and %s up\n",
                static_cast<unsigned long long>(result_.run.rounds), FormatDuration(result_.time).c_str(),
                FormatDuration(clock_->Now()).c_str(), FormatBytes(result_.down).c_str(),
                FormatBytes(result_.up).c_str());
    std::printf("run folder %s\ndigest %s\n", folder_.c_str(), result_.digest.c_str());
  }
  // Leaves it in the folder.
  void Report(std::FILE* out) const { watchers_->Report(folder_, out); }
  // Nobody watches any more, and the dashboard's address is free.
  void Leave() { watchers_.reset(); }
  std::string Summary() const { return FormatSummary(experiment_, result_); }
  const std::filesystem::path& folder() const { return folder_; }

 private:
  const Arguments& arguments_;
  const Experiment& experiment_;
  const std::filesystem::path folder_;
  std::unique_ptr<Clock> clock_;
  std::unique_ptr<Watchers> watchers_;
  FinishedRun result_;
};

Status RunAlone(const Arguments& arguments, const Experiment& experiment, TorchDevice device) {
  OneRun run(arguments, experiment,
             arguments.out.empty() ? FreeFolder(experiment.goal) : std::filesystem::path(arguments.out));
  const InterruptGuard interrupt;
  TRIBUTARY_RETURN_IF_ERROR(run.Run(device, interrupt));
  if (arguments.json) {
    std::fputs(run.Summary().c_str(), stdout);
    run.Report(stderr);
    return OkStatus();
  }
  run.Print();
  run.Report(stdout);
  return OkStatus();
}

Status RunBoth(const Arguments& arguments, const Experiment& experiment, const Experiment& against,
               TorchDevice device) {
  std::filesystem::path folder = FreeFolder(experiment.goal), other = FreeFolder(against.goal);
  if (!arguments.out.empty()) {
    folder = arguments.out;
    if (!folder.has_filename()) folder = folder.parent_path();
    other = folder.string() + against.goal.name.substr(experiment.goal.name.size());
  }
  const InterruptGuard interrupt;
  OneRun first(arguments, against, other), second(arguments, experiment, folder);
  std::FILE* const out = arguments.json ? stderr : stdout;
  TRIBUTARY_RETURN_IF_ERROR(first.Run(device, interrupt));
  if (!arguments.json) first.Print();
  first.Report(out);
  first.Leave();
  if (interrupt.interrupted()) {
    std::fprintf(stderr, "stopped before the second run\n");
    return OkStatus();
  }
  std::fprintf(out, "\n");
  TRIBUTARY_RETURN_IF_ERROR(second.Run(device, interrupt));
  if (!arguments.json) second.Print();
  TRIBUTARY_ASSIGN_OR_RETURN(const ComparedPair pair,
                             ComparePair(first.folder(), second.folder(), experiment.goal.target_accuracy));
  if (arguments.json) {
    auto json = nlohmann::ordered_json::parse(second.Summary());
    json["against"] = nlohmann::ordered_json::parse(first.Summary());
    json["comparison"] = PairJson(pair);
    PrintJson(json);
    second.Report(stderr);
    return OkStatus();
  }
  std::printf("\n%s\npicture %s\n", FormatPair(pair).c_str(), (second.folder() / "against.svg").c_str());
  second.Report(stdout);
  return OkStatus();
}

Status Run(Arguments arguments, const Extensions& extensions) {
  if (arguments.seed) arguments.overrides.push_back("experiment.seed=" + std::to_string(*arguments.seed));
  TRIBUTARY_ASSIGN_OR_RETURN(const ExperimentPair pair,
                             FindExperimentPair(arguments.experiment, arguments.overrides, extensions));
  TRIBUTARY_ASSIGN_OR_RETURN(const TorchDevice device, FindTorchDevice(arguments.device));
  if (!pair.against || arguments.alone) return RunAlone(arguments, pair.experiment, device);
  return RunBoth(arguments, pair.experiment, *pair.against, device);
}

}  // namespace

void AddRunCommand(CLI::App& app, Action& action, const Extensions& extensions) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("run", "Run an experiment on a simulated fleet of unequal devices");
  command
      ->add_option("experiment", arguments->experiment,
                   "Preset (see 'tributary presets') or path of a TOML file")
      ->capture_default_str();
  command
      ->add_option("--set", arguments->overrides,
                   "Change a key of the experiment, e.g. train.batch=16; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--seed", arguments->seed, "Short for --set experiment.seed=N");
  AddDataDirOption(*command, arguments->data_dir);
  AddThreadsOption(*command, arguments->threads);
  AddTorchDeviceOption(*command, arguments->device);
  command->add_flag("--alone", arguments->alone,
                    "Leave out the run that the experiment is compared with ([against] in its file)");
  command->add_option("--out", arguments->out, "Folder for the run's files; without it runs/NAME-SEED")
      ->type_name("DIR");
  AddWatchOptions(*command, arguments->watch);
  AddJsonFlag(*command, arguments->json);
  command->add_flag("--quiet", arguments->quiet, "Print the result only");
  command->footer(
      "Ctrl-C ends the run after the current round and writes its folder.\n"
      "Examples:\n"
      "  tributary run                       # a fleet twice: conventional, and with all that helps\n"
      "  tributary run --alone --set compression=   # without the first, and without compression\n"
      "  tributary run har --dashboard\n"
      "  tributary run fedavg --set train.method=sync-sgd --set experiment.rounds=100 --seed 2");
  command->callback([arguments, &action, &extensions] {
    action = [arguments, &extensions] { return Run(*arguments, extensions); };
  });
}

}  // namespace tributary
