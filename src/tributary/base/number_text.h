#pragma once

#include <sstream>
#include <string>

namespace tributary::inline base {

// A number for messages, with at most six significant digits.
inline std::string NumberText(double value) {
  std::ostringstream text;
  text << value;
  return text.str();
}

}  // namespace tributary::inline base
