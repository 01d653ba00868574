#include "tributary/policy/partitioning/features.h"

#include <cmath>
#include <limits>
#include <string>

namespace tributary {

Status CheckFeatures(const Features& features, std::size_t labels) {
  constexpr float kMost = 1e15F;
  if (features.dimensions == 0 || features.values.empty()) {
    return InvalidArgument("there are no features; each sample needs a row of at least one number");
  }
  if (features.values.size() % features.dimensions != 0) {
    return InvalidArgument(std::to_string(features.values.size()) + " values are not rows of " +
                           std::to_string(features.dimensions));
  }
  if (features.samples() != labels) {
    return InvalidArgument("there are features of " + std::to_string(features.samples()) +
                           " samples and labels of " + std::to_string(labels) +
                           "; each sample needs one row and one label");
  }
  if (features.samples() > std::numeric_limits<std::uint32_t>::max()) {
    return InvalidArgument("found " + std::to_string(features.samples()) +
                           " samples; at most 4294967295 can be divided");
  }
  for (std::size_t i = 0; i < features.values.size(); ++i) {
    const float value = features.values[i];
    if (std::isfinite(value) && std::abs(value) < kMost) continue;
    return InvalidArgument("row " + std::to_string(i / features.dimensions) + ", column " +
                           std::to_string(i % features.dimensions) + " of the features is " +
                           std::to_string(value) + "; features are finite numbers of a magnitude below 1e15");
  }
  return OkStatus();
}

}  // namespace tributary
