#pragma once

#include "tributary/experiment/extensions.h"

namespace tributary::inline cli {

// The program: parses the arguments, runs one sub-command and returns the exit code.
//   0  done (also when interrupted and saved)
//   1  the run failed
//   2  bad usage, configuration or input
// The commands run, coordinator and device know the extensions by name.
int Main(int argc, const char* const* argv, const Extensions& extensions = {});

}  // namespace tributary::inline cli
