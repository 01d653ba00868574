#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <string>
#include <tuple>

#include "tributary/base/status.h"
#include "tributary/experiment/extensions.h"

namespace tributary::inline cli {

// The work to do once arguments are parsed, and the program's custom components.
struct Action {
  const Extensions& extensions;
  std::function<Status()> work{};
};

// Adds a sub-command, and returns it with the arguments that its options fill. If it is chosen, and none of
// its own sub-commands is, parsing sets `action` to `work` with these arguments.
template <typename A>
auto AddCommand(CLI::App& app, Action& action, Status (*work)(A), const char* name, const char* about) {
  auto arguments = std::make_shared<std::remove_cvref_t<A>>();
  CLI::App* command = app.add_subcommand(name, about);
  command->callback([arguments, work, &action] {
    if (!action.work) action.work = [arguments, work] { return work(*arguments); };
  });
  return std::tie(*command, *arguments);
}

// Each adds one sub-command to `app`; if it is chosen, parsing sets `action`. One file per sub-command,
// NAME_command.cc; AddSchemaCommand is in explain_command.cc. The extensions must outlive the work.
using CommandAdder = void(CLI::App& app, Action& action);
CommandAdder AddRunCommand, AddReportCommand, AddRunsCommand, AddCompareCommand, AddReproduceCommand;
CommandAdder AddPresetsCommand, AddCompatibilityCommand, AddExplainCommand, AddSchemaCommand, AddTrainCommand;
CommandAdder AddEvaluateCommand, AddModelsCommand, AddDataCommand, AddStreamCommand, AddProfileCommand;
CommandAdder AddPartitionCommand, AddPlanCommand, AddExploreCommand, AddSampleCommand;
CommandAdder AddDataFetch;    // only with libcurl
CommandAdder AddKeysCommand;  // only with OpenSSL
// Only with gRPC.
CommandAdder AddCoordinatorCommand, AddDeviceCommand, AddFleetCommand, AddAuditCommand;

// "0.1.0".
std::string VersionNumber();

}  // namespace tributary::inline cli
