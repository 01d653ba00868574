#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tributary::inline policy {

// Compact float formats: keys that order magnitudes, 16-bit halves, and bytes with a shared scale.

// The bits of |value|. As integers they order the magnitudes, including zero and subnormals, with infinity
// above all numbers and NaN above infinity. Integer comparisons vectorise everywhere.
inline std::int32_t MagnitudeKey(float value) { return std::bit_cast<std::int32_t>(value) & 0x7fffffff; }

inline constexpr std::int32_t kInfinityKey = 0x7f800000;

// IEEE 754 binary16: a sign, 5 bits of exponent, 10 of fraction; the largest value is 65504, the smallest
// above zero 2^−24. Only 32-bit integers and IEEE 754 float sums are used, so the bits are the same on every
// machine, and loops over spans vectorise without special instructions.

// Nearest value, ties to even; out of range becomes the largest of its sign. Infinities and NaNs are kept.
std::uint16_t HalfOf(float value);
// Exact.
float FromHalf(std::uint16_t half);

// Per element; both spans have the same size.
void HalvesOf(std::span<const float> values, std::span<std::uint16_t> halves);
void FromHalves(std::span<const std::uint16_t> halves, std::span<float> values);

// Halves as little-endian bytes, two per value.
void WriteHalves(std::span<const float> values, std::byte* to);
void ReadHalves(const std::byte* from, std::span<float> values);

// Int8 quantisation in blocks of any length that share a scale: value ≈ scale · byte, with bytes from −127 to
// 127 and scale = largest magnitude / 127. Rounds to nearest, ties to even; the same bits everywhere.
//
// The error of a decoded value is below 1/253 of its block's largest magnitude. A block whose values are all
// below 2^−100 becomes zero. Block length of encoded units (encoding.h):
inline constexpr std::size_t kInt8Block = 256;

// All values must be finite. Returns the scale: at least 0, with 127 · scale finite.
float QuantiseBlock(std::span<const float> values, std::int8_t* bytes);
void RestoreBlock(float scale, const std::int8_t* bytes, std::span<float> values);

}  // namespace tributary::inline policy
