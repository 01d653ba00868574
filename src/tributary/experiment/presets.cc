#include "tributary/experiment/presets.h"

#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/fleet/front_file.h"

namespace tributary::inline experiment {

const std::vector<Preset>& ListPresets() {
  static const std::vector<Preset> presets = [] {
    std::vector<Preset> list;
    for (const EmbeddedPreset& preset : EmbeddedPresets()) {
      const auto read = ReadExperimentText(preset.text, {std::string(preset.name), "."});
      TRIBUTARY_CHECK(read.ok());  // built in, and read by a test
      list.push_back({std::string(preset.name), read->goal.about, preset.text});
    }
    return list;
  }();
  return presets;
}

StatusOr<ExperimentPair> FindExperimentPair(const std::string& name, std::span<const std::string> overrides,
                                            const Extensions& extensions) {
  if (name.find('/') != std::string::npos || name.ends_with(".toml"))
    return ReadExperimentPair(name, overrides, extensions);
  std::vector<std::string> known;
  for (const Preset& preset : ListPresets()) {
    known.push_back(preset.name);
    if (preset.name == name) {
      return ReadExperimentPairText(preset.text, {"presets/" + name + ".toml", "."}, overrides, extensions);
    }
  }
  return InvalidArgument(UnknownName("preset", name, known).message() +
                         ", or the path of an experiment file, ending in .toml");
}

StatusOr<Experiment> FindExperiment(const std::string& name, std::span<const std::string> overrides,
                                    const Extensions& extensions) {
  TRIBUTARY_ASSIGN_OR_RETURN(ExperimentPair pair, FindExperimentPair(name, overrides, extensions));
  return std::move(pair.experiment);
}

StatusOr<ParetoFront> BuiltInFront(const std::string& network) {
  std::vector<std::string> names;
  for (const EmbeddedPreset& front : EmbeddedFronts()) {
    if (front.name == network) return ParseFront(front.text);
    names.emplace_back(front.name);
  }
  return UnknownName("built-in front", network, names);
}

}  // namespace tributary::inline experiment
