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

// Reads an experiment file: TOML with kebab-case keys and `schema = 1`, changed by `overrides` (overrides.h) before it
// is checked. What comes back is complete and consistent: every key that is not given has its default, every value lies
// in its range, and no two contradict each other.
//
// Everything else is refused with a message that begins with file and line (or "--set …"), and names the key, what was
// found and what is allowed, with the nearest valid name where there is one. Files that do not exist, the experiment's
// or one it names, are NotFound. Larger ones than kLargestDocument, also once everything is spelled out (FormatExperiment), are
// ResourceExhausted: every experiment that is read can be written and read again. `extensions` are known by their names.
StatusOr<Experiment> ReadExperiment(const std::filesystem::path& path,
                                    std::span<const std::string> overrides = {},
                                    const Extensions& extensions = {});

// Where a text comes from.
struct TextSource {
  // As it should be called in messages.
  std::string name;
  // Where files that the experiment names (traces) are looked for. Without it none may be named: an experiment that
  // somebody else sends must not choose which files of this machine are read.
  std::optional<std::filesystem::path> folder;
};
StatusOr<Experiment> ReadExperimentText(std::string_view text, const TextSource& source,
                                        std::span<const std::string> overrides = {},
                                        const Extensions& extensions = {});

// An experiment and what it is compared with: [against] names the same experiment with other settings, which are applied
// after the overrides. A key that they take out may be gone already.
//
//   [against]
//   name = "conventional"                       # the other's name is this one's, a dash and that
//   set = ["compression=", "train.batch=64"]    # as overrides.h has them
struct ExperimentPair {
  Experiment experiment;
  std::optional<Experiment> against;  // None if there is no such section.
};
// The functions above give the first of both, and refuse what is wrong with the second.
StatusOr<ExperimentPair> ReadExperimentPair(const std::filesystem::path& path,
                                            std::span<const std::string> overrides = {},
                                            const Extensions& extensions = {});
StatusOr<ExperimentPair> ReadExperimentPairText(std::string_view text, const TextSource& source,
                                                std::span<const std::string> overrides = {},
                                                const Extensions& extensions = {});

// The experiment as an experiment file of its own: every key with a meaning is spelled out, defaults and overrides
// included, and traces are written into it, so that it stands alone and stays true when defaults change. Reads back to
// an equal experiment. Always the same text for the same experiment.
std::string FormatExperiment(const Experiment& experiment);

}  // namespace tributary::inline experiment
