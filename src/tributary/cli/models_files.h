#pragma once

#include "tributary/cli/commands.h"

namespace tributary {

// `tributary models import` and `export`: networks from and to other programs' files.
void AddModelsImport(CLI::App& models, Action& action);
void AddModelsExport(CLI::App& models, Action& action);

}  // namespace tributary
