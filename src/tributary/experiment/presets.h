#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/experiment/extensions.h"
#include "tributary/experiment/reader.h"
#include "tributary/policy/dropout/front.h"

namespace tributary::inline experiment {

// The built-in experiments: the files of presets/ in the source tree, embedded into the binary at build time.
struct Preset {
  std::string name;   // the file name without .toml
  std::string about;  // one line
  std::string_view text;
};

// Sorted by name.
const std::vector<Preset>& ListPresets();

// An experiment file if `name` contains a slash or ends in .toml, otherwise a preset; the error for an
// unknown preset suggests the nearest. Overrides and extensions as in reader.h. Files that overrides of a
// preset name are relative to the working directory.
StatusOr<Experiment> FindExperiment(const std::string& name, std::span<const std::string> overrides = {},
                                    const Extensions& extensions = {});

// The same, with the variant to compare with.
StatusOr<ExperimentPair> FindExperimentPair(const std::string& name,
                                            std::span<const std::string> overrides = {},
                                            const Extensions& extensions = {});

// A built-in Pareto front (presets/fronts), by network. The error for an unknown name suggests the nearest.
StatusOr<ParetoFront> BuiltInFront(const std::string& network);

// Embedded files, defined in a source file that the build generates from presets/*.toml,
// presets/fronts/*.json and presets/studies/*.toml (embed_presets.cmake).
struct EmbeddedPreset {
  std::string_view name;
  std::string_view text;
};
std::span<const EmbeddedPreset> EmbeddedPresets();
std::span<const EmbeddedPreset> EmbeddedFronts();
std::span<const EmbeddedPreset> EmbeddedStudies();
std::span<const EmbeddedPreset> EmbeddedCompatibility();  // compatibility/ in this folder

}  // namespace tributary::inline experiment
