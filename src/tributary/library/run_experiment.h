#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/experiment/extensions.h"

namespace tributary::inline library {

struct RunOptions {
  // Path of a TOML file, or a preset.
  std::string experiment = "default";
  // Changes to it, "KEY=VALUE", as in `tributary run --set`.
  std::vector<std::string> overrides{};
  std::filesystem::path data_dir{};  // folder of known data sets
  std::size_t threads = 1;           // results do not depend on it
  // The run folder, as for `tributary run --out`; it must not exist. Without it nothing is written.
  std::optional<std::filesystem::path> folder{};
  // Checked between rounds: whether to stop.
  std::function<bool()> should_stop{};
};

struct RunResult {
  std::uint64_t rounds = 0;
  std::optional<double> accuracy;  // on the test set, of the final weights
  Duration time{0};                // on the fleet's virtual clock
  Bytes down{0}, up{0};
  std::string digest;  // of all events and final weights: equal for equal experiment, seed and extensions
};

// Runs an experiment on a simulated fleet, as `tributary run` does, without output. Fails if the experiment
// is invalid or this machine cannot run it.
StatusOr<RunResult> RunExperiment(const RunOptions& options, const Extensions& extensions = {});

}  // namespace tributary::inline library
