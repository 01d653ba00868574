#include "tributary/policy/compression/int8_block.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "tributary/policy/compression/magnitude.h"

namespace tributary {
namespace {

constexpr float kSmallest = 0x1p-100F;  // Far below any gradient; a reciprocal of less could overflow.

// Adding 1.5 · 2^23 leaves a float rounded to an integer, in the low bits of its representation.
constexpr float kToInteger = 0x1.8p23F;

}  // namespace

float QuantiseBlock(std::span<const float> values, std::int8_t* bytes) {
  std::int32_t largest_key = 0;
  for (const float value : values) largest_key = std::max(largest_key, MagnitudeKey(value));
  const float largest = std::bit_cast<float>(largest_key);
  if (largest < kSmallest) {
    std::memset(bytes, 0, values.size());
    return 0;
  }
  float scale = largest / 127;
  if (!std::isfinite(scale * 127)) scale = std::nextafter(scale, 0.0F);
  const float inverse = 127 / largest;
  for (std::size_t i = 0; i < values.size(); ++i) {
    // At most a little above 127, which rounds to 127.
    bytes[i] = static_cast<std::int8_t>(std::bit_cast<std::int32_t>(values[i] * inverse + kToInteger) -
                                        std::bit_cast<std::int32_t>(kToInteger));
  }
  return scale;
}

void RestoreBlock(float scale, const std::int8_t* bytes, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(bytes[i]);
}

}  // namespace tributary
