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

// The byte format of one transfer unit: its kind (a byte), the number of elements (varint), and
//
//   dense    the values
//   gaps     number of kept elements (varint); per element the number skipped before it (varint); values
//   bitmap   number of kept elements (varint); one bit per element, lowest first, zero padding; values
//   int8     per block of kInt8Block elements: the scale, and a signed byte per element
//   own      as the codec's UnitForm says
//
// Values and scales are little-endian float32 and finite; varints have their shortest form. Units are
// contiguous. EncodedUnit reads them.
enum class EncodingKind : std::uint8_t { kDense = 1, kGaps = 2, kBitmap = 3, kInt8 = 4, kOwn = 5 };

// A codec's own format, for units that carry every element.
struct UnitForm {
  // Size of `count` elements.
  std::size_t (*bytes)(std::size_t count);
  // Reads elements starting at `begin`, a multiple of 1024. For arbitrary bytes it must return; values that
  // are not finite are refused later.
  void (*read)(const std::byte* bytes, std::size_t begin, std::span<float> values);
};

// Number of bytes that the functions below append.
std::size_t DenseBytes(std::size_t count);
std::size_t Int8Bytes(std::size_t count);

// Each appends one unit of fewer than 2^32 finite values. AppendSparse uses the shorter index coding, gaps if
// equal; indices ascend strictly, from `base` (the first element) to below base + count.
void AppendDense(std::span<const float> values, std::vector<std::byte>& out);
void AppendSparse(std::size_t count, std::span<const std::uint32_t> indices, std::span<const float> values,
                  std::vector<std::byte>& out, std::uint32_t base = 0);
void AppendInt8(std::span<const float> values, std::vector<std::byte>& out);
// The heading of a unit in the codec's own form; the codec appends the rest.
void AppendOwnHeading(std::size_t count, std::vector<std::byte>& out);

// A received unit: a view of validated bytes. For any bytes, parsing returns a view or an error and allocates
// nothing. All values of a view are finite. The bytes must outlive it.
class EncodedUnit {
 public:
  // Takes one unit of `count` elements from the front of `bytes`, which does not change on failure. The
  // codec's own form is accepted only with `own`.
  static StatusOr<EncodedUnit> Parse(std::span<const std::byte>& bytes, std::size_t count,
                                     const UnitForm* own = nullptr);

  EncodingKind kind() const { return kind_; }
  std::size_t count() const { return count_; }
  std::size_t kept() const { return kept_; }  // number of values; the other elements are zero

  // Calls visit(std::size_t offset, std::span<const float> values) for runs of adjacent kept elements, by
  // ascending offset, each element once. Runs are short: the unit is never decoded as a whole.
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
  if (kind_ == EncodingKind::kDense || kind_ == EncodingKind::kOwn) {
    for (std::size_t begin = 0; begin < count_; begin += kLongestRun) {
      const std::size_t length = std::min(kLongestRun, count_ - begin);
      if (kind_ == EncodingKind::kOwn) {
        own_->read(values_, begin, {run.data(), length});
      } else {
        std::memcpy(run.data(), values_ + sizeof(float) * begin, sizeof(float) * length);
      }
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
