#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>

namespace tributary::inline policy {

// Floats as integers and in fewer bits: keys that order magnitudes, 16-bit halves, and bytes that share a scale.

// The bits of |value|. As integers they are in the order of the magnitudes, zero and denormal numbers included, with
// infinity above all numbers and NaN above infinity; comparing integers vectorises everywhere.
inline std::int32_t MagnitudeKey(float value) { return std::bit_cast<std::int32_t>(value) & 0x7fffffff; }

inline constexpr std::int32_t kInfinityKey = 0x7f800000;

// Numbers of 16 bits as IEEE 754 has them (binary16): a sign, 5 bits of exponent, 10 of fraction; the largest is 65504,
// the smallest above zero 2^−24. All is done in 32-bit integers and float sums that IEEE 754 fixes, so the bits are the
// same on every machine, and loops over spans need no special processor to be fast.

// The nearest, ties to the even one; what is beyond the range becomes the largest of its sign. Infinities stay infinite,
// NaNs stay NaNs.
std::uint16_t HalfOf(float value);
// Exact.
float FromHalf(std::uint16_t half);

// The same for each element; both spans have one size.
void HalvesOf(std::span<const float> values, std::span<std::uint16_t> halves);
void FromHalves(std::span<const std::uint16_t> halves, std::span<float> values);

// Halves as bytes, little-endian, two for each value.
void WriteHalves(std::span<const float> values, std::byte* to);
void ReadHalves(const std::byte* from, std::span<float> values);

// Floats as one byte each, in blocks of any length that share a scale: value ≈ scale · byte, with bytes from −127 to
// 127 and the scale a 127th of the block's largest magnitude. Rounding is to the nearest, halves to even, in float
// arithmetic that is the same on every processor.
//
// A decoded value is off by less than 1/253 of its block's largest magnitude; a block whose values are all below 2^−100
// becomes zero. Encoded units (encoding.h) have blocks of this many:
inline constexpr std::size_t kInt8Block = 256;

// All values must be finite. Returns the scale: finite, ≥ 0, and so that 127 · scale is finite.
float QuantiseBlock(std::span<const float> values, std::int8_t* bytes);
void RestoreBlock(float scale, const std::int8_t* bytes, std::span<float> values);

}  // namespace tributary::inline policy
