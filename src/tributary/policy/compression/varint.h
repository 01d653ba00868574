#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

namespace tributary {

// Numbers below 2^32 in one to five bytes, seven bits each, the lowest first; a set upper bit says that more follow.
// Each number has one form: the shortest.

inline constexpr std::size_t VarintSize(std::uint32_t value) {
  return 1U + (value >= 1U << 7) + (value >= 1U << 14) + (value >= 1U << 21) + (value >= 1U << 28);
}

// Returns the place behind what it wrote: VarintSize bytes.
inline std::byte* WriteVarint(std::uint32_t value, std::byte* to) {
  for (; value >= 128; value >>= 7) *to++ = static_cast<std::byte>(value | 128);
  *to++ = static_cast<std::byte>(value);
  return to;
}

// Takes a number off the front; nothing if there is none in its shortest form.
inline std::optional<std::uint32_t> ReadVarint(std::span<const std::byte>& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 5 && i < bytes.size(); ++i) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
    value |= (byte & 127) << (7 * i);
    if (byte >= 128) continue;
    if ((byte == 0 && i > 0) || value > 0xffffffff) return std::nullopt;
    bytes = bytes.subspan(i + 1);
    return static_cast<std::uint32_t>(value);
  }
  return std::nullopt;
}

}  // namespace tributary
