#include "tributary/experiment/fronts.h"

#include "tributary/base/names.h"
#include "tributary/experiment/embedded_presets.h"
#include "tributary/fleet/front_file.h"

namespace tributary {

StatusOr<ParetoFront> BuiltInFront(const std::string& network) {
  std::vector<std::string> names;
  for (const EmbeddedPreset& front : EmbeddedFronts()) {
    if (front.name == network) return ParseFront(front.text);
    names.emplace_back(front.name);
  }
  return UnknownName("built-in front", network, names);
}

}  // namespace tributary
