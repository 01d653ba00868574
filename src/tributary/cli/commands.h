#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <tuple>

#include "tributary/base/status.h"
#include "tributary/experiment/extensions.h"

namespace tributary::inline cli {

// What to run once the arguments have been read, and what the program has beside what every tributary has.
struct Action {
  const Extensions& extensions;
  std::function<Status()> work{};
};

// Adds a sub-command, and returns it and the arguments that its options are to fill. If it is the one chosen, and none
// of its own sub-commands is, reading the arguments puts `work` with them into `action`.
template <typename A>
auto AddCommand(CLI::App& app, Action& action, Status (*work)(A), const char* name, const char* about) {
  auto arguments = std::make_shared<std::remove_cvref_t<A>>();
  CLI::App* command = app.add_subcommand(name, about);
  command->callback([arguments, work, &action] {
    if (!action.work) action.work = [arguments, work] { return work(*arguments); };
  });
  return std::tie(*command, *arguments);
}

// Each adds one sub-command to `app`; if it is the one chosen, reading the arguments puts its work into `action`.
// One file per sub-command, NAME_command.cc; AddSchemaCommand is in explain_command.cc. The extensions outlive the work.
using CommandAdder = void(CLI::App& app, Action& action);
CommandAdder AddRunCommand, AddReportCommand, AddRunsCommand, AddCompareCommand, AddReproduceCommand;
CommandAdder AddPresetsCommand, AddCompatibilityCommand, AddExplainCommand, AddSchemaCommand, AddTrainCommand;
CommandAdder AddEvaluateCommand, AddModelsCommand, AddDataCommand, AddStreamCommand, AddProfileCommand;
CommandAdder AddPartitionCommand, AddPlanCommand, AddExploreCommand, AddSampleCommand;
CommandAdder AddDataFetch;    // only in a program built with libcurl
CommandAdder AddKeysCommand;  // only in a program built with OpenSSL
// Only in a program built with gRPC.
CommandAdder AddCoordinatorCommand, AddDeviceCommand, AddFleetCommand, AddAuditCommand;

// Of this program: "0.1.0".
std::string VersionNumber();

}  // namespace tributary::inline cli
