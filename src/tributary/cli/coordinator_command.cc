#include <random>

#include "tributary/base/log.h"
#include "tributary/cli/commands.h"
#include "tributary/cli/fleet_options.h"
#include "tributary/cli/interrupt.h"
#include "tributary/cli/run_options.h"
#include "tributary/cli/shared_options.h"
#include "tributary/coordinator/finished_run.h"
#include "tributary/coordinator/run_folder.h"
#include "tributary/coordinator/serving.h"
#include "tributary/experiment/presets.h"
#include "tributary/keys/revocation_list.h"

namespace tributary::inline cli {
namespace coordinator_command {

struct Arguments {
  std::string experiment;
  CommonRunOptions run;
  std::string listen;
  FleetOptions fleet;
  std::filesystem::path data_dir;
  int threads = 1;
  std::string resume;
  std::string checkpoint_every = "30s";
  std::size_t keep = 2;
  std::optional<std::size_t> wait_for;
  std::string grace = "10s";
  WatchOptions watch;
  bool dashboard_tls = false;
  bool verbose = false;
  const Extensions* extensions = nullptr;
};

StatusOr<Experiment> Find(const Arguments& arguments) {
  if (arguments.resume.empty()) {
    if (arguments.experiment.empty()) {
      return InvalidArgument(
          "no experiment given; name a preset or a file, or give a run's folder with --resume");
    }
    return FindExperiment(arguments.experiment, arguments.run.Overrides(), *arguments.extensions);
  }
  if (!arguments.experiment.empty() || !arguments.run.Overrides().empty() || !arguments.run.out.empty()) {
    return InvalidArgument(
        "--resume continues that run's experiment unchanged: leave out EXPERIMENT, --set, --seed and --out");
  }
  return FindExperiment((std::filesystem::path(arguments.resume) / "experiment.toml").string(), {},
                        *arguments.extensions);
}

// The dashboard with the coordinator's keys, for people whose certificate lets them watch.
Status SetUpTls(const Credentials& credentials, const std::filesystem::path& revoked,
                std::optional<DashboardTls>& tls) {
  TRIBUTARY_ASSIGN_OR_RETURN(auto list, RevocationList::Load(revoked, credentials.authority_pem));
  const std::filesystem::path& folder = credentials.folder;
  tls = {folder / "cert.pem", folder / "key.pem", folder / "ca.pem",
         [list = std::shared_ptr(std::move(list))](const std::string& certificate) -> Status {
           TRIBUTARY_ASSIGN_OR_RETURN(const Party party, PartyInCertificate(certificate));
           TRIBUTARY_RETURN_IF_ERROR(CheckRight(party, Right::kWatch));
           (void)list->Refresh();  // the server for devices reports what cannot be read
           return list->Check(certificate);
         }};
  return OkStatus();
}

Status Run(Arguments arguments) {
  TRIBUTARY_ASSIGN_OR_RETURN(const Experiment experiment, Find(arguments));
  if (arguments.listen.empty()) arguments.listen = arguments.fleet.insecure ? "127.0.0.1:7070" : ":7070";
  ServingOptions options;
  options.data_dir = arguments.data_dir;
  options.threads = static_cast<std::size_t>(arguments.threads);
  options.resume = !arguments.resume.empty();
  options.folder =
      options.resume ? std::filesystem::path(arguments.resume) : FolderOf(arguments.run, experiment.goal);
  // Checked before any output opens the folder.
  if (options.resume) TRIBUTARY_RETURN_IF_ERROR(RunFolder::CheckResumable(options.folder));
  TRIBUTARY_ASSIGN_OR_RETURN(options.checkpoints.time,
                             ReadTime("--checkpoint-every", arguments.checkpoint_every));
  options.checkpoints.keep = arguments.keep;
  TRIBUTARY_ASSIGN_OR_RETURN(options.grace, ReadTime("--grace", arguments.grace));
  TRIBUTARY_ASSIGN_OR_RETURN(options.credentials,
                             LoadParty(arguments.fleet, "coordinator", arguments.listen));
  if (options.credentials) {
    TRIBUTARY_ASSIGN_OR_RETURN(options.revoked, RevokedList(arguments.fleet));
  }
  if (arguments.dashboard_tls) {
    if (!options.credentials)
      return InvalidArgument("--dashboard-tls uses the coordinator's keys, and --insecure leaves them out");
    TRIBUTARY_RETURN_IF_ERROR(SetUpTls(*options.credentials, options.revoked, arguments.watch.dashboard_tls));
  }
  options.listen = arguments.listen.starts_with(':') ? "[::]" + arguments.listen : arguments.listen;
  options.build = VersionNumber();
  options.wait_for = arguments.wait_for;
  std::random_device chance;
  options.incarnation = (std::uint64_t{chance()} << 32) | chance();

  TRIBUTARY_ASSIGN_OR_RETURN(const auto watchers, Watchers::Open(arguments.watch, experiment, options.folder,
                                                                 /*simulated=*/false, options.resume));
  options.watcher = &watchers->sink();
  options.states = [&](std::function<std::vector<std::string>()> states) {
    watchers->page().SetStates(std::move(states));
  };
  SetUpLog({.least = arguments.verbose ? LogLevel::kDebug : LogLevel::kInfo,
            .times = arguments.verbose,
            .out = watchers->out()});
  options.say = [](const std::string& text) { Log(LogLevel::kInfo, text); };
  const InterruptGuard interrupt;
  options.should_stop = [&] { return interrupt.interrupted(); };
  TRIBUTARY_ASSIGN_OR_RETURN(const FinishedRun result, Serve(experiment, options));
  watchers->Close(result);
  std::fflush(stdout);
  if (arguments.watch.json) {
    std::fputs(FormatSummary(experiment, result).c_str(), stdout);
    watchers->Report(options.folder, stderr);
    return OkStatus();
  }
  if (!arguments.watch.quiet) PrintDevices(result);
  if (result.run.accuracy) Say("accuracy {:.2f} %, ", 100 * *result.run.accuracy);
  Say("{} rounds in {}, {} down and {} up\nrun folder {}\nweights {}\n", result.run.rounds,
      FormatDuration(result.time), FormatBytes(result.down), FormatBytes(result.up), options.folder.c_str(),
      result.digest);
  watchers->Report(options.folder, stdout);
  if (result.run.reason == RunEnd::kInterrupted) {
    Say("stopped; go on with: tributary coordinator --resume {}\n", options.folder.c_str());
  }
  return OkStatus();
}

}  // namespace coordinator_command

void AddCoordinatorCommand(CLI::App& app, Action& action) {
  using namespace coordinator_command;
  auto [command, a] = AddCommand(app, action, Run, "coordinator",
                                 "Run an experiment on real devices that join over the network");
  a.extensions = &action.extensions;
  AddOption(command, "experiment", a.experiment, "Preset (see 'tributary presets') or path of a TOML file");
  AddOption(command, "--listen [HOST]:PORT", a.listen,
            "Address for devices; port 0 selects a free port and prints it")
      ->default_str(":7070");
  AddFleetOptions(command, a.fleet);
  AddOverrideOptions(command, a.run);
  AddOption(command, "--wait-for", a.wait_for,
            "Start when this many devices have joined; default: all devices of the experiment")
      ->check(CLI::Range(std::size_t{1}, std::size_t{100'000}));
  AddDefaulted(command, "--grace TIME", a.grace,
               "How long a round waits for a disconnected device that it could end without");
  AddOutOption(command, a.run);
  AddOption(command, "--resume DIR", a.resume, "Continue the run in this folder from its last checkpoint");
  AddDefaulted(command, "--checkpoint-every TIME", a.checkpoint_every,
               "Time between checkpoints; 0s for one after every round");
  AddDefaulted(command, "--keep", a.keep, "Checkpoints to keep")
      ->check(CLI::Range(std::size_t{1}, std::size_t{1000}));
  AddDataDirOption(command, a.data_dir);
  AddThreadsOption(command, a.threads);
  AddWatchOptions(command, a.watch);
  command
      .add_flag(
          "--dashboard-tls", a.dashboard_tls,
          "Serve the dashboard over TLS with the coordinator's keys. Certificates of observers and operators "
          "need no token")
      ->needs("--dashboard");
  AddVerboseFlag(command, a.verbose);
  command.footer(
      "Ctrl-C or SIGTERM abandons the round and writes a checkpoint; --resume continues.\n"
      "Examples:\n"
      "  tributary keys init && tributary keys device pi-1\n"
      "  tributary coordinator fedavg --listen :7070\n"
      "  tributary coordinator smoke --insecure                  on this machine, without keys\n"
      "  tributary coordinator --resume runs/default-1");
}

}  // namespace tributary::inline cli
