#pragma once

#include <bit>
#include <cstdint>

namespace tributary {

// The bits of |value|. As integers they are in the order of the magnitudes, zero and denormal numbers included, with
// infinity above all numbers and NaN above infinity; comparing integers vectorises everywhere.
inline std::int32_t MagnitudeKey(float value) { return std::bit_cast<std::int32_t>(value) & 0x7fffffff; }

inline constexpr std::int32_t kInfinityKey = 0x7f800000;

}  // namespace tributary
