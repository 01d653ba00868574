#include "tributary/fleet/grpc/field_reader.h"

namespace tributary::inline rpc {
namespace {

// How many bytes the character at the start of a text takes, none if they are no UTF-8 or one that steers a terminal.
std::size_t PrintableLength(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  if (byte(0) < 0x80) return byte(0) < 0x20 || byte(0) == 0x7f ? 0 : 1;
  const std::size_t length = byte(0) >= 0xf0 ? 4 : byte(0) >= 0xe0 ? 3 : 2;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const std::uint32_t lead = (byte(0) << 8) | byte(1);
  if (lead < 0xc2a0 || lead > 0xf48f) return 0;  // overlong, controls, beyond Unicode
  if ((lead >= 0xe000 && lead < 0xe0a0) || (lead >= 0xeda0 && lead < 0xee00))
    return 0;                                     // overlong, surrogates
  if (lead >= 0xf000 && lead < 0xf090) return 0;  // overlong
  return length;
}

}  // namespace

std::string Clean(std::string_view text, std::size_t longest) {
  std::string clean;
  while (!text.empty()) {
    const std::size_t length = PrintableLength(text);
    if (clean.size() + std::max<std::size_t>(length, 1) > longest) break;
    clean += length == 0 ? "?" : text.substr(0, length);
    text.remove_prefix(std::max<std::size_t>(length, 1));
  }
  return clean;
}

}  // namespace tributary::inline rpc
