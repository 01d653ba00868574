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
  // The path of a TOML file, or a preset.
  std::string experiment = "default";
  // Changes to it, "KEY=VALUE", as `tributary run --set` has them.
  std::vector<std::string> overrides{};
  std::filesystem::path data_dir{};  // where named data sets lie
  std::size_t threads = 1;           // results do not depend on it
  // Where the run leaves its folder, as `tributary run --out`; it must not exist yet. Without it nothing is written.
  std::optional<std::filesystem::path> folder{};
  // Asked between rounds: whether to end.
  std::function<bool()> should_stop{};
};

struct RunResult {
  std::uint64_t rounds = 0;
  std::optional<double> accuracy;  // on the test set, of the final weights
  Duration time{0};                // on the fleet's virtual clock
  Bytes down{0}, up{0};
  std::string
      digest;  // of every event and the final weights: the same for the same experiment, seed and extensions
};

// Runs an experiment on a simulated fleet, as `tributary run` does, without a word on standard output. Whatever is wrong with
// the experiment, or cannot be had on this machine, is an error.
StatusOr<RunResult> RunExperiment(const RunOptions& options, const Extensions& extensions = {});

}  // namespace tributary::inline library
