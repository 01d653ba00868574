#include <cstdio>
#include <random>

#include "tributary/cli/commands.h"
#include "tributary/cli/fleet_options.h"
#include "tributary/cli/free_folder.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/run_report.h"
#include "tributary/cli/shared_options.h"
#include "tributary/cli/version.h"
#include "tributary/cli/watch_options.h"
#include "tributary/coordinator/run_summary.h"
#include "tributary/coordinator/serving.h"
#include "tributary/experiment/presets.h"
#include "tributary/telemetry/live_view.h"

namespace tributary {
namespace {

struct Arguments {
  std::string experiment;
  std::vector<std::string> overrides;
  std::optional<std::uint64_t> seed;
  std::string listen;
  FleetOptions fleet;
  std::filesystem::path data_dir;
  int threads = 1;
  std::string out;
  std::string resume;
  std::string checkpoint_every = "30s";
  std::size_t keep = 2;
  std::optional<std::size_t> wait_for;
  std::string grace = "10s";
  WatchOptions watch;
  bool json = false;
  bool quiet = false;
};

StatusOr<Experiment> Find(Arguments& arguments, const Extensions& extensions) {
  if (arguments.resume.empty()) {
    if (arguments.experiment.empty()) {
      return InvalidArgument("which experiment? name a preset or a file, or --resume a run's folder");
    }
    if (arguments.seed) arguments.overrides.push_back("experiment.seed=" + std::to_string(*arguments.seed));
    return FindExperiment(arguments.experiment, arguments.overrides, extensions);
  }
  if (!arguments.experiment.empty() || !arguments.overrides.empty() || arguments.seed ||
      !arguments.out.empty()) {
    return InvalidArgument(
        "--resume goes on with the experiment of that run as it is: leave out the experiment, --set,"
        " --seed and --out");
  }
  return FindExperiment((std::filesystem::path(arguments.resume) / "experiment.toml").string(), {},
                        extensions);
}

Status Run(Arguments arguments, const Extensions& extensions) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Experiment experiment, Find(arguments, extensions));
  if (arguments.listen.empty()) arguments.listen = arguments.fleet.insecure ? "127.0.0.1:7070" : ":7070";
  ServingOptions options;
  options.data_dir = arguments.data_dir;
  options.threads = static_cast<std::size_t>(arguments.threads);
  options.resume = !arguments.resume.empty();
  options.folder = options.resume          ? std::filesystem::path(arguments.resume)
                   : arguments.out.empty() ? FreeFolder(experiment.goal)
                                           : std::filesystem::path(arguments.out);
  TRIBUTARY_ASSIGN_OR_RETURN(options.checkpoints.time,
                             ReadTime("--checkpoint-every", arguments.checkpoint_every));
  options.checkpoints.keep = arguments.keep;
  TRIBUTARY_ASSIGN_OR_RETURN(options.grace, ReadTime("--grace", arguments.grace));
  TRIBUTARY_ASSIGN_OR_RETURN(options.credentials,
                             LoadParty(arguments.fleet, "coordinator", arguments.listen));
  if (options.credentials) options.revoked = RevokedList(arguments.fleet);
  options.listen = arguments.listen.starts_with(':') ? "[::]" + arguments.listen : arguments.listen;
  options.build = VersionNumber();
  options.wait_for = arguments.wait_for;
  std::random_device chance;
  options.life = (std::uint64_t{chance()} << 32) | chance();

  const auto clock = MakeRealClock();
  std::FILE* const view_out = arguments.json ? stderr : stdout;
  LiveView view(*clock, view_out,
                {.style = arguments.quiet ? ProgressStyle::kQuiet : ProgressStyleFor(view_out)});
  TRIBUTARY_ASSIGN_OR_RETURN(const auto watchers,
                             Watchers::Open(arguments.watch, experiment, options.folder,
                                            /*simulated=*/false, options.resume, view, view_out));
  options.watcher = &watchers->sink();
  options.states = [&](std::function<std::vector<std::string>()> states) {
    watchers->page().SetStates(std::move(states));
  };
  options.say = [&](const std::string& text) {
    std::fprintf(view_out, "%s\n", text.c_str());
    std::fflush(view_out);
  };
  const InterruptGuard interrupt;
  options.should_stop = [&] { return interrupt.interrupted(); };
  TRIBUTARY_ASSIGN_OR_RETURN(const FinishedRun result, Serve(experiment, options));
  watchers->Close(result);
  std::fflush(stdout);
  if (arguments.json) {
    std::fputs(FormatSummary(experiment, result).c_str(), stdout);
    watchers->Report(options.folder, stderr);
    return OkStatus();
  }
  if (!arguments.quiet) PrintDevices(result);
  if (result.run.accuracy) std::printf("accuracy %.2f %%, ", 100 * *result.run.accuracy);
  std::printf("%llu rounds in %s, %s down and %s up\nrun folder %s\nweights %s\n",
              static_cast<unsigned long long>(result.run.rounds), FormatDuration(result.time).c_str(),
              FormatBytes(result.down).c_str(), FormatBytes(result.up).c_str(), options.folder.c_str(),
              result.digest.c_str());
  watchers->Report(options.folder, stdout);
  if (result.run.reason == RunEnd::kInterrupted) {
    std::printf("stopped; go on with: tributary coordinator --resume %s\n", options.folder.c_str());
  }
  return OkStatus();
}

}  // namespace

void AddCoordinatorCommand(CLI::App& app, Action& action, const Extensions& extensions) {
  auto arguments = std::make_shared<Arguments>();
  CLI::App* command =
      app.add_subcommand("coordinator", "Run an experiment on real devices that join over the network");
  command->add_option("experiment", arguments->experiment,
                      "Preset (see 'tributary presets') or path of a TOML file");
  command
      ->add_option("--listen", arguments->listen,
                   "Where devices dial; port 0 takes a free one and says which")
      ->type_name("[HOST]:PORT")
      ->default_str(":7070");
  AddFleetOptions(*command, arguments->fleet);
  command
      ->add_option("--set", arguments->overrides,
                   "Change a key of the experiment, e.g. train.batch=16; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
  command->add_option("--seed", arguments->seed, "Short for --set experiment.seed=N");
  command
      ->add_option("--wait-for", arguments->wait_for,
                   "Begin when so many devices are there; all of the experiment's when not given")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}));
  command
      ->add_option("--grace", arguments->grace,
                   "How long a device that has gone is waited for where the round could end without it")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--out", arguments->out, "Folder for the run's files; without it runs/NAME-SEED")
      ->type_name("DIR");
  command
      ->add_option("--resume", arguments->resume,
                   "Go on with the run in this folder, from its last checkpoint")
      ->type_name("DIR");
  command
      ->add_option("--checkpoint-every", arguments->checkpoint_every,
                   "Time between checkpoints; 0s for one after every round")
      ->type_name("TIME")
      ->capture_default_str();
  command->add_option("--keep", arguments->keep, "Checkpoints to keep")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}))
      ->capture_default_str();
  AddDataDirOption(*command, arguments->data_dir);
  AddThreadsOption(*command, arguments->threads);
  AddWatchOptions(*command, arguments->watch);
  AddJsonFlag(*command, arguments->json);
  command->add_flag("--quiet", arguments->quiet, "Print the result only");
  command->footer(
      "Ctrl-C or SIGTERM leaves the round, writes a checkpoint and ends; nothing is lost. After a crash use "
      "--resume.\n"
      "Examples:\n"
      "  tributary keys init && tributary keys device pi-1\n"
      "  tributary coordinator fedavg --listen :7070\n"
      "  tributary coordinator smoke --insecure                  on this machine, without keys\n"
      "  tributary coordinator --resume runs/default-1");
  command->callback([arguments, &action, &extensions] {
    action = [arguments, &extensions] { return Run(*arguments, extensions); };
  });
}

}  // namespace tributary
