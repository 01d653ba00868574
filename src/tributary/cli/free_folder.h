#pragma once

#include <filesystem>

#include "tributary/experiment/experiment.h"

namespace tributary {

// runs/NAME-SEED, or with a number behind it where that exists already.
std::filesystem::path FreeFolder(const Goal& goal);

}  // namespace tributary
