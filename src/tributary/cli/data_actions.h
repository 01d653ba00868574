#pragma once

#include "tributary/cli/commands.h"

namespace tributary {

// The sub-commands of `tributary data`, one file each.
void AddDataCheck(CLI::App& data, Action& action);
void AddDataFetch(CLI::App& data, Action& action);

}  // namespace tributary
