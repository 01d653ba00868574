#include "tributary/cli/main.h"

#include <cstdio>
#include <string>
#include <vector>

#include "tributary/base/names.h"
#include "tributary/cli/commands.h"
#include "tributary/engine/compute.h"

namespace tributary::inline cli {
namespace {

constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kBadUsage = 2;

int ExitCode(const Status& status) {
  switch (status.code()) {
    case StatusCode::kOk:
      return kDone;
    case StatusCode::kInvalidArgument:
    case StatusCode::kNotFound:
    case StatusCode::kCorrupt:
    case StatusCode::kResourceExhausted:
      return kBadUsage;
    case StatusCode::kUnavailable:
    case StatusCode::kCancelled:
    case StatusCode::kIoError:
      return kFailed;
  }
  return kFailed;
}

int Complain(const std::string& message) {
  std::fprintf(stderr, "tributary: %s\n", message.c_str());
  return kBadUsage;
}

// The innermost sub-command and its full name.
const CLI::App* Chosen(const CLI::App& app, std::string& name) {
  const CLI::App* chosen = &app;
  name = "tributary";
  while (!chosen->get_subcommands().empty()) {
    chosen = chosen->get_subcommands().front();
    name += " " + chosen->get_name();
  }
  return chosen;
}

// The error for an unexpected argument, probably a mistyped flag or command.
std::string UnknownArgument(const CLI::App& app) {
  std::string name;
  const CLI::App* chosen = Chosen(app, name);
  const std::vector<std::string> extras = app.remaining(/*recurse=*/true);
  const std::string found = extras.empty() ? "" : extras.front().substr(0, extras.front().find('='));
  std::vector<std::string> known;
  std::string what;
  if (found.starts_with("-")) {
    what = "option of '" + name + "':";
    for (const CLI::Option* option : chosen->get_options()) {
      if (!option->get_lnames().empty()) known.push_back("--" + option->get_lnames().front());
    }
  } else {
    what = chosen == &app ? "command" : "argument of '" + name + "':";
    for (const CLI::App* sub : chosen->get_subcommands({})) known.push_back(sub->get_name());
  }
  return UnknownName(what, found, known).message() + "\nsee '" + name + " --help'";
}

// "tributary 0.1.0, libtorch 1.13.1, optional parts: OPENSSL".
std::string VersionText() {
  const std::string parts = TRIBUTARY_FEATURES;
  return "tributary " + VersionNumber() + ", libtorch " + TorchVersion() +
         ", optional parts: " + (parts.empty() ? "none" : parts);
}

}  // namespace

std::string VersionNumber() { return TRIBUTARY_VERSION; }

int Main(int argc, const char* const* argv, const Extensions& extensions) {
  CLI::App app("Trains a neural network across devices that differ in speed, bandwidth, memory and data.",
               "tributary");
  app.footer(
      "Examples:\n"
      "  tributary run                                    train over eight simulated, unequal devices\n"
      "  tributary train                                  train on this machine alone\n"
      "  tributary models resnet18 --input 3x32x32        a network's layers and their costs\n"
      "  tributary data show glyphs --split dirichlet     how data are divided over devices");
  app.set_version_flag("--version", VersionText());
  app.require_subcommand(0, 1);
  Action action{extensions};
  for (CommandAdder* add :
       {AddRunCommand, AddReportCommand, AddRunsCommand, AddCompareCommand, AddReproduceCommand,
        AddPresetsCommand, AddCompatibilityCommand, AddExplainCommand, AddSchemaCommand, AddTrainCommand,
        AddEvaluateCommand, AddModelsCommand, AddDataCommand, AddStreamCommand, AddProfileCommand,
        AddPartitionCommand, AddPlanCommand, AddExploreCommand, AddSampleCommand}) {
    add(app, action);
  }
#ifdef TRIBUTARY_REMOTE
  AddCoordinatorCommand(app, action);
  AddDeviceCommand(app, action);
  AddFleetCommand(app, action);
  AddAuditCommand(app, action);
#endif
#ifdef TRIBUTARY_KEYS
  AddKeysCommand(app, action);
#endif

  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ExtrasError&) {
    return Complain(UnknownArgument(app));
  } catch (const CLI::ParseError& error) {
    std::string name;
    Chosen(app, name);
    return Complain(std::string(error.what()) + "\nsee '" + name + " --help'");
  }
  if (!action.work) {
    std::fputs(app.help().c_str(), stdout);
    return kDone;
  }
  KeepFreedMemory();
  AskForShortTimeSlices();
  const Status status = action.work();
  if (!status.ok()) std::fprintf(stderr, "tributary: %s\n", status.message().c_str());
  return ExitCode(status);
}

}  // namespace tributary::inline cli
