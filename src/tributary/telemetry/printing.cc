#include "tributary/telemetry/printing.h"

#include <algorithm>
#include <utility>

namespace tributary::inline telemetry {

std::string Printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; },
      ' ');
  return text;
}

// Not fmt::print, which throws when the disk under a log is full.
void Print(std::FILE* out, std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), out);
  std::fflush(out);
}

}  // namespace tributary::inline telemetry
