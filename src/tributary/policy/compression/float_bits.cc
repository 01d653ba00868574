#include "tributary/policy/compression/float_bits.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

#include "tributary/base/check.h"

namespace tributary::inline policy {
namespace {

constexpr std::int32_t kHalfInfinity = 0x7c00;
constexpr std::int32_t kHalfLargest = 0x7bff;
constexpr std::int32_t kShift = 23 - 10;                          // bits of fraction that are lost
constexpr std::int32_t kExponents = (127 - 15) << 23;             // difference of the exponent biases
constexpr std::int32_t kSmallestNormal = kExponents + (1 << 23);  // 2^−14, the smallest normal half

// Computes every case and selects one, so that a loop over this has no branches.
inline std::uint16_t Narrow(float value) {
  const auto bits = std::bit_cast<std::int32_t>(value);
  const std::int32_t magnitude = bits & 0x7fffffff;

  // Half of the last kept bit, minus one if that bit is even: added before truncation.
  const std::int32_t rounding = ((1 << (kShift - 1)) - 1) + ((magnitude >> kShift) & 1);
  std::int32_t half = (magnitude - kExponents + rounding) >> kShift;
  half = half > kHalfLargest ? kHalfLargest : half;

  // The last bit of 0.5F is 2^−24, as of the subnormal halves: the sum rounds to it.
  const std::int32_t small =
      std::bit_cast<std::int32_t>(std::bit_cast<float>(magnitude) + 0.5F) - std::bit_cast<std::int32_t>(0.5F);
  half = magnitude < kSmallestNormal ? small : half;

  // The truncated fraction of a NaN must not become zero, which would be infinity.
  const std::int32_t fraction = (magnitude >> kShift) & 0x3ff;
  const std::int32_t kept = fraction == 0 && magnitude > kInfinityKey ? 0x200 : fraction;
  half = magnitude >= kInfinityKey ? kHalfInfinity | kept : half;

  return static_cast<std::uint16_t>(half | ((bits >> 16) & 0x8000));
}

inline float Widen(std::uint16_t half) {
  const std::int32_t magnitude = half & 0x7fff;
  std::int32_t bits = (magnitude << kShift) + kExponents;
  // Infinity and NaN have a float's highest exponent.
  bits = magnitude >= kHalfInfinity ? bits + kExponents : bits;
  // Subnormal halves have no implicit leading bit: it is added, and subtracted again as a number.
  const float small =
      std::bit_cast<float>((magnitude << kShift) + kSmallestNormal) - std::bit_cast<float>(kSmallestNormal);
  bits = magnitude < 0x400 ? std::bit_cast<std::int32_t>(small) : bits;
  return std::bit_cast<float>(bits | ((half & 0x8000) << 16));
}

constexpr std::size_t kChunk = 512;  // halves converted at a time, on the stack

constexpr float kSmallest = 0x1p-100F;  // far below any gradient; the reciprocal of less could overflow

// Adding 1.5 · 2^23 rounds a float to an integer, in the low bits of its representation.
constexpr float kToInteger = 0x1.8p23F;

}  // namespace

std::uint16_t HalfOf(float value) { return Narrow(value); }
float FromHalf(std::uint16_t half) { return Widen(half); }

void HalvesOf(std::span<const float> values, std::span<std::uint16_t> halves) {
  TRIBUTARY_CHECK(values.size() == halves.size());
  for (std::size_t i = 0; i < values.size(); ++i) halves[i] = Narrow(values[i]);
}

void FromHalves(std::span<const std::uint16_t> halves, std::span<float> values) {
  TRIBUTARY_CHECK(values.size() == halves.size());
  for (std::size_t i = 0; i < halves.size(); ++i) values[i] = Widen(halves[i]);
}

void WriteHalves(std::span<const float> values, std::byte* to) {
  std::array<std::uint16_t, kChunk> halves;
  for (std::size_t begin = 0; begin < values.size(); begin += kChunk) {
    const std::size_t length = std::min(kChunk, values.size() - begin);
    HalvesOf(values.subspan(begin, length), std::span(halves).first(length));
    std::memcpy(to + sizeof(std::uint16_t) * begin, halves.data(), sizeof(std::uint16_t) * length);
  }
}

void ReadHalves(const std::byte* from, std::span<float> values) {
  std::array<std::uint16_t, kChunk> halves;
  for (std::size_t begin = 0; begin < values.size(); begin += kChunk) {
    const std::size_t length = std::min(kChunk, values.size() - begin);
    std::memcpy(halves.data(), from + sizeof(std::uint16_t) * begin, sizeof(std::uint16_t) * length);
    FromHalves(std::span(halves).first(length), values.subspan(begin, length));
  }
}

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
    // Slightly above 127 at most, which rounds to 127.
    bytes[i] = static_cast<std::int8_t>(std::bit_cast<std::int32_t>(values[i] * inverse + kToInteger) -
                                        std::bit_cast<std::int32_t>(kToInteger));
  }
  return scale;
}

void RestoreBlock(float scale, const std::int8_t* bytes, std::span<float> values) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = scale * static_cast<float>(bytes[i]);
}

}  // namespace tributary::inline policy
