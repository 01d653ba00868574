#pragma once

#include <string>

#include "tributary/coordinator/simulation.h"

namespace tributary {

// A finished run as JSON: what was run (and what it was charged as), how it ended, and where each device's time and
// bytes went.
std::string FormatSummary(const Experiment& experiment, const SimulationResult& result);

}  // namespace tributary
