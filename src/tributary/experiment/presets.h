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

// The experiments that come with the program: the files of presets/ in the source tree, which the build puts into the
// binary, so that they are found from wherever it is installed.
struct Preset {
  std::string name;   // the file's, without .toml
  std::string about;  // one line
  std::string_view text;
};

// By name.
const std::vector<Preset>& ListPresets();

// What a person means by `name`: with a slash in it or .toml at its end an experiment file, else a preset; one that
// does not exist is answered with the nearest. Overrides and extensions as in reader.h; files that a preset is made to name lie in the
// working folder.
StatusOr<Experiment> FindExperiment(const std::string& name, std::span<const std::string> overrides = {},
                                    const Extensions& extensions = {});

// Finds an experiment by the same rules, together with the one that it is compared with.
StatusOr<ExperimentPair> FindExperimentPair(const std::string& name,
                                            std::span<const std::string> overrides = {},
                                            const Extensions& extensions = {});

// The fronts that are built in (presets/fronts), by the network they are of. An unknown name is answered with the nearest.
StatusOr<ParetoFront> BuiltInFront(const std::string& network);

// What is behind these. Defined in a source file that the build writes from presets/*.toml, presets/fronts/*.json and
// presets/studies/*.toml (embed_presets.cmake).
struct EmbeddedPreset {
  std::string_view name;
  std::string_view text;
};
std::span<const EmbeddedPreset> EmbeddedPresets();
std::span<const EmbeddedPreset> EmbeddedFronts();
std::span<const EmbeddedPreset> EmbeddedStudies();
std::span<const EmbeddedPreset> EmbeddedCompatibility();  // the files of compatibility/ in this folder

}  // namespace tributary::inline experiment
