#include "tributary/experiment/presets.h"

#include <algorithm>

#include "tributary/base/names.h"
#include "tributary/experiment/document.h"
#include "tributary/fleet/front_file.h"

namespace tributary::inline experiment {
namespace {

std::string AboutOf(std::string_view name, std::string_view text) {
  const auto document = ParseDocument(text, std::string(name));
  TRIBUTARY_CHECK(document.ok());  // They are ours, and a test reads them all.
  const Value* section = FindMember(std::get<Table>(document->root.content), "experiment");
  TRIBUTARY_CHECK(section != nullptr);
  const Value* about = FindMember(std::get<Table>(section->content), "about");
  return about == nullptr ? std::string() : std::get<std::string>(about->content);
}

}  // namespace

const std::vector<Preset>& ListPresets() {
  static const std::vector<Preset> presets = [] {
    std::vector<Preset> list;
    for (const EmbeddedPreset& preset : EmbeddedPresets()) {
      list.push_back({std::string(preset.name), AboutOf(preset.name, preset.text), preset.text});
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
