#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/experiment/extensions.h"

namespace tributary::inline experiment {

// Reads an experiment file: TOML with kebab-case keys and `schema = 1`, with `overrides` (overrides.h)
// applied before it is checked. The result is complete and consistent: missing keys have their defaults,
// values are in range and do not contradict each other.
//
// Errors begin with file and line (or "--set …") and name the key, the value and what is allowed, with the
// nearest valid name if there is one. A missing experiment, or a missing file that it names, is NotFound. An
// experiment above kLargestDocument, as a file or as written by FormatExperiment, is ResourceExhausted: what
// was read can be written and read again. Experiments refer to `extensions` by name.
StatusOr<Experiment> ReadExperiment(const std::filesystem::path& path,
                                    std::span<const std::string> overrides = {},
                                    const Extensions& extensions = {});

struct TextSource {
  // For messages.
  std::string name;
  // Where files that the experiment names (traces) are looked up. Without it, naming files is an error: a
  // received experiment must not choose files of this machine.
  std::optional<std::filesystem::path> folder;
};
StatusOr<Experiment> ReadExperimentText(std::string_view text, const TextSource& source,
                                        std::span<const std::string> overrides = {},
                                        const Extensions& extensions = {});

// An experiment and a variant to compare it with: [against] lists settings that are applied after the
// overrides. They may remove keys that are not there.
//
//   [against]
//   name = "conventional"                       # appended to the experiment's name, after a dash
//   set = ["compression=", "train.batch=64"]    # settings as in overrides.h
struct ExperimentPair {
  Experiment experiment;
  std::optional<Experiment> against;  // Empty without [against].
};
// ReadExperiment and ReadExperimentText return `experiment`, and also check the variant.
StatusOr<ExperimentPair> ReadExperimentPair(const std::filesystem::path& path,
                                            std::span<const std::string> overrides = {},
                                            const Extensions& extensions = {});
StatusOr<ExperimentPair> ReadExperimentPairText(std::string_view text, const TextSource& source,
                                                std::span<const std::string> overrides = {},
                                                const Extensions& extensions = {});

// The experiment as a self-contained file: all valid keys, with defaults, overrides and traces written out,
// so that later changes of defaults do not affect it. Parses back to an equal experiment. Deterministic.
std::string FormatExperiment(const Experiment& experiment);

}  // namespace tributary::inline experiment
