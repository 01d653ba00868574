#pragma once

#include <string>

namespace tributary {

// "tributary 0.1.0, libtorch 1.13.1, optional parts: none".
std::string VersionText();

}  // namespace tributary
