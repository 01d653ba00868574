#pragma once

#include <sstream>
#include <string>

namespace tributary::inline base {

// A number as a message says it: in six digits, or fewer.
inline std::string NumberText(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace tributary::inline base
