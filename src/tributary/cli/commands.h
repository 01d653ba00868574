#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>

#include "tributary/base/status.h"
#include "tributary/experiment/extensions.h"

namespace tributary::inline cli {

// What to run once the arguments have been read.
using Action = std::function<Status()>;

// Each adds one sub-command to `app`; if it is the one chosen, reading the arguments puts its work into `action`.
// One file per sub-command, NAME_command.cc. `extensions` outlive the action.
void AddRunCommand(CLI::App& app, Action& action, const Extensions& extensions);
void AddReportCommand(CLI::App& app, Action& action);
void AddRunsCommand(CLI::App& app, Action& action);
void AddCompareCommand(CLI::App& app, Action& action);
void AddReproduceCommand(CLI::App& app, Action& action);
void AddPresetsCommand(CLI::App& app, Action& action);
void AddCompatibilityCommand(CLI::App& app, Action& action);
void AddExplainCommand(CLI::App& app, Action& action);
void AddSchemaCommand(CLI::App& app, Action& action);  // in explain_command.cc
void AddModelsCommand(CLI::App& app, Action& action);
void AddDataCommand(CLI::App& app, Action& action);
void AddTrainCommand(CLI::App& app, Action& action);
void AddEvaluateCommand(CLI::App& app, Action& action);
void AddPartitionCommand(CLI::App& app, Action& action);
void AddPlanCommand(CLI::App& app, Action& action);
void AddProfileCommand(CLI::App& app, Action& action);
void AddExploreCommand(CLI::App& app, Action& action);
void AddSampleCommand(CLI::App& app, Action& action);
void AddStreamCommand(CLI::App& app, Action& action);
// `tributary data fetch`, only in a program built with libcurl:
void AddDataFetch(CLI::App& data, Action& action);
// Only in a program built with OpenSSL:
void AddKeysCommand(CLI::App& app, Action& action);
// Only in a program built with gRPC:
void AddCoordinatorCommand(CLI::App& app, Action& action, const Extensions& extensions);
void AddDeviceCommand(CLI::App& app, Action& action, const Extensions& extensions);
void AddFleetCommand(CLI::App& app, Action& action);

// Of this program: "0.1.0".
std::string VersionNumber();

}  // namespace tributary::inline cli
