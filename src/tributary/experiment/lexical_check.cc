#include "tributary/experiment/lexical_check.h"

#include <algorithm>

namespace tributary {
namespace {

// The length of the text in quotes at the start of `rest`; npos if it does not end on its line.
std::size_t LengthOfQuoted(std::string_view rest) {
  const char quote = rest.front();
  for (std::size_t i = 1; i < rest.size() && rest[i] != '\n'; ++i) {
    if (rest[i] == quote) return i + 1;
    if (quote == '"' && rest[i] == '\\') ++i;
  }
  return std::string_view::npos;
}

}  // namespace

Status CheckLexically(std::string_view text, const std::string& name) {
  int line = 1;
  int dots = 0;
  const auto fail = [&](std::string_view what) {
    return InvalidArgument(name + ":" + std::to_string(line) + ": " + std::string(what));
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const char c = rest.front();
    std::size_t length = 1;
    if (c == '"' || c == '\'') {
      if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
        return fail("a text over several lines; texts stand on one line, in single quotes");
      }
      length = LengthOfQuoted(rest);
      // The library stops here too, and says what is wrong.
      if (length == std::string_view::npos) return OkStatus();
    } else if (c == '#') {
      length = std::min(rest.find('\n'), rest.size());
    } else if (c == '.') {
      if (++dots >= kMostKeyParts)
        return fail("a key of more than " + std::to_string(kMostKeyParts) + " parts");
    } else if (static_cast<unsigned char>(c) >= 0x80) {
      return fail("a character that is not ASCII outside of a text in quotes");
    } else if (std::string_view("=,[{\n").find(c) != std::string_view::npos) {
      dots = 0;
      if (c == '\n') ++line;
    }
    i += length;
  }
  return OkStatus();
}

}  // namespace tributary
