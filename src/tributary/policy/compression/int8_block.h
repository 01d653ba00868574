#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace tributary {

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

}  // namespace tributary
