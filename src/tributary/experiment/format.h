#pragma once

#include <string>

#include "tributary/experiment/experiment.h"

namespace tributary::inline experiment {

// The experiment as an experiment file of its own: every key with a meaning is spelled out, defaults and overrides
// included, and traces are written into it, so that it stands alone and stays true when defaults change. Reads back to
// an equal experiment. Always the same text for the same experiment.
std::string FormatExperiment(const Experiment& experiment);

}  // namespace tributary::inline experiment
