#pragma once

#include <string>

#include "tributary/coordinator/finished_run.h"
#include "tributary/experiment/experiment.h"

namespace tributary {

// A finished run as JSON: what was run (and what it was charged as), how it ended, and where each device's time and
// bytes went.
std::string FormatSummary(const Experiment& experiment, const FinishedRun& result);

}  // namespace tributary
