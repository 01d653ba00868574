#include "tributary/base/crc32c.h"

#include <array>

namespace tributary::inline base {
namespace {

constexpr std::array<std::uint32_t, 256> MakeCrcTable() {
  std::array<std::uint32_t, 256> table{};
  for (std::uint32_t i = 0; i < table.size(); ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ ((value & 1) != 0 ? 0x82F63B78U : 0U);
    table[i] = value;
  }
  return table;
}

constexpr auto kCrcTable = MakeCrcTable();

}  // namespace

std::uint32_t Crc32c(std::string_view bytes) {
  std::uint32_t sum = ~std::uint32_t{0};
  for (const char byte : bytes) sum = kCrcTable[(sum ^ static_cast<unsigned char>(byte)) & 0xff] ^ (sum >> 8);
  return ~sum;
}

}  // namespace tributary::inline base
