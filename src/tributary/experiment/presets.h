#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/experiment/experiment.h"
#include "tributary/experiment/extensions.h"
#include "tributary/experiment/reader.h"

namespace tributary {

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

// Likewise, with what it is compared with.
StatusOr<ExperimentPair> FindExperimentPair(const std::string& name,
                                            std::span<const std::string> overrides = {},
                                            const Extensions& extensions = {});

}  // namespace tributary
