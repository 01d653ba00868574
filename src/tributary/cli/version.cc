#include "tributary/cli/version.h"

#include "tributary/engine/compute.h"

namespace tributary {

std::string VersionText() {
  const std::string parts = TRIBUTARY_FEATURES;
  return std::string("tributary " TRIBUTARY_VERSION ", libtorch ") + TorchVersion() +
         ", optional parts: " + (parts.empty() ? "none" : parts);
}

std::string VersionNumber() { return TRIBUTARY_VERSION; }

}  // namespace tributary
