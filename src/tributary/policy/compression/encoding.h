#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace tributary {

// How the values of one transfer unit become bytes. An encoded unit is its kind (a byte), the number of elements it
// stands for (varint), and
//
//   dense    the values
//   gaps     how many are kept (varint); for each, how many elements lie between it and the one before (varint); values
//   bitmap   how many are kept (varint); a bit for each element, the lowest first, padded with zero bits; values
//   int8     for each block of kInt8Block elements its scale and a signed byte per element
//
// Values and scales are little-endian float32, all finite; varints are in their shortest form. Units stand one behind
// the other without anything between, and EncodedUnit reads them.
enum class EncodingKind : std::uint8_t { kDense = 1, kGaps = 2, kBitmap = 3, kInt8 = 4 };

// How many bytes the writers below append.
std::size_t DenseBytes(std::size_t count);
std::size_t Int8Bytes(std::size_t count);

// Which of the two index codings is shorter for these elements (ascending indices) of a unit of `count`, and how many
// bytes the whole unit then takes. Gaps, if they are equal.
struct SparseSize {
  EncodingKind kind = EncodingKind::kGaps;
  std::size_t bytes = 0;
};
SparseSize SizeOfSparse(std::size_t count, std::span<const std::uint32_t> indices);

// Each appends one unit. At most 2^32 − 1 finite values; indices ascend strictly, from `base` (which stands for the
// first element) to below base + count.
void AppendDense(std::span<const float> values, std::vector<std::byte>& out);
void AppendSparse(std::size_t count, std::span<const std::uint32_t> indices, std::span<const float> values,
                  std::vector<std::byte>& out, std::uint32_t base = 0);
void AppendInt8(std::span<const float> values, std::vector<std::byte>& out);

}  // namespace tributary
