#pragma once

#include <cstdint>
#include <span>

namespace tributary {

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

}  // namespace tributary
