#include "tributary/experiment/lexical_check.h"

#include <algorithm>
#include <cctype>

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

// Whether a value or a bare key may end with it, so that nothing can begin directly behind it.
bool EndsAWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
         std::string_view("_-+:\"'").find(c) != std::string_view::npos;
}

}  // namespace

Status CheckLexically(std::string_view text, const std::string& name) {
  int line = 1;
  int dots = 0;
  char before = '\n';  // the character in front, the closing quote for a text
  const auto fail = [&](std::string_view what) {
    return InvalidArgument(name + ":" + std::to_string(line) + ": " + std::string(what));
  };
  for (std::size_t i = 0; i < text.size();) {
    const std::string_view rest = text.substr(i);
    const char c = rest.front();
    std::size_t length = 1;
    const bool control = static_cast<unsigned char>(c) < 0x20 || c == 0x7f;
    if (control && std::string_view("\t\r\n").find(c) == std::string_view::npos) {
      return fail("a control character outside of a text in quotes");
    }
    // Behind a number the library reads on without minding what is in quotes.
    if (std::string_view("\"'[{").find(c) != std::string_view::npos && EndsAWord(before)) {
      return fail(std::string("a ") + c + " directly behind a value or a key");
    }
    before = c;
    if (c == '"' || c == '\'') {
      if (rest.starts_with("\"\"\"") || rest.starts_with("'''")) {
        return fail("a text over several lines; texts stand on one line, in single quotes");
      }
      length = LengthOfQuoted(rest);
      if (length == std::string_view::npos) return fail("a text in quotes that does not end on its line");
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
