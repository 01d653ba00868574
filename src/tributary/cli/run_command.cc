#include <cstdio>

#include "tributary/cli/commands.h"
#include "tributary/cli/free_folder.h"
#include "tributary/cli/interrupt.h"
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
  bool json = false;
  bool quiet = false;
};

Status Run(Arguments arguments, const Extensions& extensions) {
  if (arguments.seed) arguments.overrides.push_back("experiment.seed=" + std::to_string(*arguments.seed));
  TRIBUTARY_ASSIGN_OR_RETURN(const Experiment experiment,
                             FindExperiment(arguments.experiment, arguments.overrides, extensions));
  SimulationOptions options;
  options.data_dir = arguments.data_dir;
  options.threads = static_cast<std::size_t>(arguments.threads);
  TRIBUTARY_ASSIGN_OR_RETURN(options.device, FindTorchDevice(arguments.device));
  options.folder = arguments.out.empty() ? FreeFolder(experiment.goal) : std::filesystem::path(arguments.out);

  const auto clock = MakeRealClock();
  std::FILE* const view_out = arguments.json ? stderr : stdout;
  LiveView view(*clock, view_out,
                {.style = arguments.quiet ? ProgressStyle::kQuiet : ProgressStyleFor(view_out)});
  TRIBUTARY_ASSIGN_OR_RETURN(const auto watchers, Watchers::Open(arguments.watch, experiment, *options.folder,
                                                                 /*simulated=*/true, /*resumed=*/false, view, view_out));
  options.watcher = &watchers->sink();
  const InterruptGuard interrupt;
  options.should_stop = [&] { return interrupt.interrupted(); };
  TRIBUTARY_ASSIGN_OR_RETURN(const FinishedRun result, Simulate(experiment, options));
  watchers->Close(result);
  std::fflush(stdout);

  if (arguments.json) {
    std::fputs(FormatSummary(experiment, result).c_str(), stdout);
    watchers->Report(*options.folder, stderr);
    return OkStatus();
  }
  if (!arguments.quiet) PrintDevices(result);
  if (experiment.model.compute_as) {
    std::printf("time and bytes are those of %s; %s was trained in its place\n", experiment.model.compute_as->c_str(),
                experiment.model.name.c_str());
  }
  if (result.run.accuracy) std::printf("accuracy %.2f %%, ", 100 * *result.run.accuracy);
  std::printf("%llu rounds, %s of virtual time (%s of ours), %s down and %s up\n",
              static_cast<unsigned long long>(result.run.rounds), FormatDuration(result.time).c_str(),
              FormatDuration(clock->Now()).c_str(), FormatBytes(result.down).c_str(), FormatBytes(result.up).c_str());
  std::printf("run folder %s\ndigest %s\n", options.folder->c_str(), result.digest.c_str());
  watchers->Report(*options.folder, stdout);
  return OkStatus();
}

}  // namespace

void AddRunCommand(CLI::App& app, Action& action, const Extensions& extensions) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command = app.add_subcommand("run", "Run an experiment on a simulated fleet of unequal devices");
  command->add_option("experiment", arguments->experiment, "Preset (see 'tributary presets') or path of a TOML file")
      ->capture_default_str();
  command->add_option("--set", arguments->overrides, "Change a key of the experiment, e.g. train.batch=16; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--seed", arguments->seed, "Short for --set experiment.seed=N");
  AddDataDirOption(*command, arguments->data_dir);
  AddThreadsOption(*command, arguments->threads);
  AddTorchDeviceOption(*command, arguments->device);
  command->add_option("--out", arguments->out, "Folder for the run's files; without it runs/NAME-SEED")->type_name("DIR");
  AddWatchOptions(*command, arguments->watch);
  AddJsonFlag(*command, arguments->json);
  command->add_flag("--quiet", arguments->quiet, "Print the result only");
  command->footer(
      "Ctrl-C ends the run after the current round and writes its folder.\n"
      "Examples:\n"
      "  tributary run\n"
      "  tributary run har --dashboard\n"
      "  tributary run default --set train.method=sync-sgd --set experiment.rounds=100 --seed 2");
  command->callback([arguments, &action, &extensions] {
    action = [arguments, &extensions] { return Run(*arguments, extensions); };
  });
}

}  // namespace tributary
