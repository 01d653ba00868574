#pragma once

#include <string>

namespace tributary {

// "tributary 0.1.0, libtorch 1.13.1, optional parts: OPENSSL".
std::string VersionText();
// "0.1.0".
std::string VersionNumber();

}  // namespace tributary
