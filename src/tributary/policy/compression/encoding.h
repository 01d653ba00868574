#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/policy/compression/float_bits.h"

namespace tributary::inline policy {

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
//   own      what the codec's UnitForm says
enum class EncodingKind : std::uint8_t { kDense = 1, kGaps = 2, kBitmap = 3, kInt8 = 4, kOwn = 5 };

// A form that a codec brings with it, for units that carry every element.
struct UnitForm {
  // How many bytes `count` elements take.
  std::size_t (*bytes)(std::size_t count);
  // Reads elements from `begin`, a multiple of 1024, on. Must give finite values, or values that are not, for any bytes.
  void (*read)(const std::byte* bytes, std::size_t begin, std::span<float> values);
};

// How many bytes the writers below append.
std::size_t DenseBytes(std::size_t count);
std::size_t Int8Bytes(std::size_t count);

// Each appends one unit; of the two index codings the shorter, gaps if they are equal. At most 2^32 − 1 finite values; indices ascend strictly, from `base` (which stands for the
// first element) to below base + count.
void AppendDense(std::span<const float> values, std::vector<std::byte>& out);
void AppendSparse(std::size_t count, std::span<const std::uint32_t> indices, std::span<const float> values,
                  std::vector<std::byte>& out, std::uint32_t base = 0);
void AppendInt8(std::span<const float> values, std::vector<std::byte>& out);
// The heading of a unit of a codec's own form; its bytes follow.
void AppendOwnHeading(std::size_t count, std::vector<std::byte>& out);

// A unit as it came over a network: a view of bytes that have been checked. Whatever the bytes, parsing gives a view or
// a reason, and allocates nothing; a view's values can be visited without failure and are all finite. The bytes must
// outlive it.
class EncodedUnit {
 public:
  // Takes one unit, which must stand for `count` elements, off the front of `bytes`. Refused bytes stay where they are.
  // Units of the codec's own form are read only where it is given.
  static StatusOr<EncodedUnit> Parse(std::span<const std::byte>& bytes, std::size_t count,
                                     const UnitForm* own = nullptr);

  EncodingKind kind() const { return kind_; }
  std::size_t count() const { return count_; }
  std::size_t kept() const { return kept_; }  // how many values are there; the other elements are zero

  // Calls visit(std::size_t offset, std::span<const float> values) for runs of neighbouring elements, by ascending
  // offset, until all that are kept have been seen once. Nothing as large as the unit is ever made of them.
  template <typename Visit>
  void ForEachRun(Visit&& visit) const;

  void AddTo(std::span<float> sums) const;     // of `count` elements
  void CopyTo(std::span<float> values) const;  // zeros included

 private:
  static constexpr std::size_t kLongestRun = 1024;

  Status ParseDense(std::span<const std::byte>& bytes);
  Status ParseSparse(std::span<const std::byte>& bytes);
  Status ParseInt8(std::span<const std::byte>& bytes);
  Status ParseOwn(std::span<const std::byte>& bytes);

  template <typename Visit>
  void ForEachIndex(Visit&& visit) const;

  EncodingKind kind_ = EncodingKind::kDense;
  std::size_t count_ = 0;
  std::size_t kept_ = 0;
  const std::byte* indices_ = nullptr;  // gaps or bitmap
  const std::byte* values_ = nullptr;   // int8: blocks
  const UnitForm* own_ = nullptr;
};

template <typename Visit>
void EncodedUnit::ForEachIndex(Visit&& visit) const {
  const std::byte* at = indices_;
  if (kind_ == EncodingKind::kGaps) {
    std::size_t next = 0;
    for (std::size_t i = 0; i < kept_; ++i) {
      std::size_t gap = 0;
      for (int shift = 0;; shift += 7) {
        const auto byte = std::to_integer<std::size_t>(*at++);
        gap |= (byte & 127) << shift;
        if (byte < 128) break;
      }
      visit(next + gap);
      next += gap + 1;
    }
    return;
  }
  const std::size_t bytes = (count_ + 7) / 8;
  for (std::size_t begin = 0; begin < bytes; begin += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, at + begin, std::min<std::size_t>(8, bytes - begin));
    for (; word != 0; word &= word - 1) visit(8 * begin + static_cast<std::size_t>(std::countr_zero(word)));
  }
}

template <typename Visit>
void EncodedUnit::ForEachRun(Visit&& visit) const {
  std::array<float, kLongestRun> run;
  if (kind_ == EncodingKind::kDense) {
    for (std::size_t begin = 0; begin < count_; begin += kLongestRun) {
      const std::size_t length = std::min(kLongestRun, count_ - begin);
      std::memcpy(run.data(), values_ + sizeof(float) * begin, sizeof(float) * length);
      visit(begin, std::span<const float>(run.data(), length));
    }
  } else if (kind_ == EncodingKind::kOwn) {
    for (std::size_t begin = 0; begin < count_; begin += kLongestRun) {
      const std::size_t length = std::min(kLongestRun, count_ - begin);
      own_->read(values_, begin, {run.data(), length});
      visit(begin, std::span<const float>(run.data(), length));
    }
  } else if (kind_ == EncodingKind::kInt8) {
    std::array<std::int8_t, kInt8Block> quantised;
    const std::byte* at = values_;
    for (std::size_t begin = 0; begin < count_; begin += kInt8Block) {
      const std::size_t length = std::min(kInt8Block, count_ - begin);
      float scale;
      std::memcpy(&scale, at, sizeof(scale));
      std::memcpy(quantised.data(), at + sizeof(scale), length);
      RestoreBlock(scale, quantised.data(), {run.data(), length});
      visit(begin, std::span<const float>(run.data(), length));
      at += sizeof(scale) + length;
    }
  } else {
    std::size_t begin = 0, length = 0;
    const std::byte* at = values_;
    ForEachIndex([&](std::size_t index) {
      if (length > 0 && (index != begin + length || length == kLongestRun)) {
        visit(begin, std::span<const float>(run.data(), length));
        length = 0;
      }
      if (length == 0) begin = index;
      std::memcpy(&run[length++], at, sizeof(float));
      at += sizeof(float);
    });
    if (length > 0) visit(begin, std::span<const float>(run.data(), length));
  }
}

}  // namespace tributary::inline policy
