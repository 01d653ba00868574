#pragma once

#include <span>
#include <string_view>

namespace tributary {

// Defined in a source file that the build writes from presets/*.toml and presets/fronts/*.json (embed_presets.cmake).
struct EmbeddedPreset {
  std::string_view name;
  std::string_view text;
};
std::span<const EmbeddedPreset> EmbeddedPresets();
std::span<const EmbeddedPreset> EmbeddedFronts();

}  // namespace tributary
