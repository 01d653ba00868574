#include "tributary/policy/compression/encoding.h"

#include <fmt/format.h>

#include <limits>
#include <optional>
#include <string>

#include "tributary/base/check.h"

namespace tributary::inline policy {
namespace {

static_assert(std::endian::native == std::endian::little,
              "values are written and read as they lie in memory");

// Varints: numbers below 2^32 in one to five bytes, seven bits each, lowest first; the upper bit says that
// more bytes follow. Only the shortest form is valid.

constexpr std::uint32_t VarintSize(std::uint32_t value) {
  return 1U + (value >= 1U << 7) + (value >= 1U << 14) + (value >= 1U << 21) + (value >= 1U << 28);
}

// Writes VarintSize bytes and returns the end.
std::byte* WriteVarint(std::uint32_t value, std::byte* to) {
  for (; value >= 128; value >>= 7) *to++ = static_cast<std::byte>(value | 128);
  *to++ = static_cast<std::byte>(value);
  return to;
}

// Takes a varint from the front; empty if there is none in its shortest form.
std::optional<std::uint32_t> ReadVarint(std::span<const std::byte>& bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < 5 && i < bytes.size(); ++i) {
    const auto byte = std::to_integer<std::uint64_t>(bytes[i]);
    value |= (byte & 127) << (7 * i);
    if (byte >= 128) continue;
    if ((byte == 0 && i > 0) || value > 0xffffffff) return std::nullopt;
    bytes = bytes.subspan(i + 1);
    return static_cast<std::uint32_t>(value);
  }
  return std::nullopt;
}

std::uint32_t ToUint32(std::size_t count) {
  TRIBUTARY_CHECK(count <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(count);
}

std::size_t HeadingBytes(std::size_t count) { return 1 + VarintSize(ToUint32(count)); }

std::byte* WriteHeading(EncodingKind kind, std::size_t count, std::byte* to) {
  *to++ = static_cast<std::byte>(kind);
  return WriteVarint(ToUint32(count), to);
}

std::byte* Grow(std::vector<std::byte>& out, std::size_t bytes) {
  const std::size_t size = out.size();
  out.resize(size + bytes);
  return out.data() + size;
}

void WriteValues(std::span<const float> values, std::byte* to) {
  if (!values.empty()) std::memcpy(to, values.data(), values.size_bytes());
}

// Size of all gap varints.
std::size_t GapBytes(std::span<const std::uint32_t> indices, std::uint32_t base) {
  if (indices.empty()) return 0;
  std::size_t bytes = VarintSize(indices[0] - base);
  constexpr std::size_t kBlock = 1 << 16;  // so that the inner sum is as narrow as the indices
  for (std::size_t begin = 1; begin < indices.size(); begin += kBlock) {
    const std::size_t end = std::min(indices.size(), begin + kBlock);
    std::uint32_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t gap = indices[i] - indices[i - 1] - 1;
      sum += VarintSize(gap);
    }
    bytes += sum;
  }
  return bytes;
}

using ByteSpan = std::span<const std::byte>;

Status TooShort(std::size_t needed, std::size_t found) {
  return Corrupt(fmt::format("an encoded unit needs {} more bytes; found {}", needed, found));
}

// Takes `count` values from the front.
StatusOr<const std::byte*> TakeValues(ByteSpan& bytes, std::size_t count) {
  const std::size_t needed = sizeof(float) * count;
  if (bytes.size() < needed) return TooShort(needed, bytes.size());
  std::int32_t largest = 0;
  for (std::size_t i = 0; i < count; ++i) {
    float value;
    std::memcpy(&value, bytes.data() + sizeof(float) * i, sizeof(value));
    largest = std::max(largest, MagnitudeKey(value));
  }
  if (largest >= kInfinityKey) return Corrupt("an encoded unit holds a value that is not finite");
  const std::byte* const values = bytes.data();
  bytes = bytes.subspan(needed);
  return values;
}

Status CheckGaps(ByteSpan& bytes, std::size_t kept, std::size_t count) {
  std::size_t next = 0;
  for (std::size_t i = 0; i < kept; ++i) {
    std::size_t gap;
    if (!bytes.empty() && std::to_integer<int>(bytes.front()) < 128) {
      gap = std::to_integer<std::size_t>(bytes.front());
      bytes = bytes.subspan(1);
    } else if (const auto read = ReadVarint(bytes)) {
      gap = *read;
    } else {
      return Corrupt(fmt::format("index {} of an encoded unit is truncated or not in its shortest form", i));
    }
    next += gap + 1;
    if (next > count) {
      return Corrupt("index " + std::to_string(i) + " of an encoded unit is " + std::to_string(next - 1) +
                     ", and the unit has " + std::to_string(count) + " elements");
    }
  }
  return OkStatus();
}

Status CheckBitmap(ByteSpan& bytes, std::size_t kept, std::size_t count) {
  const std::size_t size = (count + 7) / 8;
  if (bytes.size() < size) return TooShort(size, bytes.size());
  std::size_t bits = 0;
  for (std::size_t begin = 0; begin < size; begin += 8) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data() + begin, std::min<std::size_t>(8, size - begin));
    bits += static_cast<std::size_t>(std::popcount(word));
  }
  if (count % 8 != 0 && (std::to_integer<unsigned>(bytes[size - 1]) >> (count % 8)) != 0) {
    return Corrupt("the bitmap of an encoded unit has bits after its last element");
  }
  if (bits != kept) {
    return Corrupt(fmt::format("the bitmap of an encoded unit has {} bits for {} values", bits, kept));
  }
  bytes = bytes.subspan(size);
  return OkStatus();
}

}  // namespace

std::size_t DenseBytes(std::size_t count) { return HeadingBytes(count) + sizeof(float) * count; }

std::size_t Int8Bytes(std::size_t count) {
  return HeadingBytes(count) + sizeof(float) * ((count + kInt8Block - 1) / kInt8Block) + count;
}

void AppendDense(std::span<const float> values, std::vector<std::byte>& out) {
  std::byte* const to = Grow(out, DenseBytes(values.size()));
  WriteValues(values, WriteHeading(EncodingKind::kDense, values.size(), to));
}

void AppendSparse(std::size_t count, std::span<const std::uint32_t> indices, std::span<const float> values,
                  std::vector<std::byte>& out, std::uint32_t base) {
  TRIBUTARY_CHECK(indices.size() == values.size());
  TRIBUTARY_CHECK(indices.empty() || (indices.front() >= base && indices.back() - base < count));
  const std::size_t gaps = GapBytes(indices, base);
  const std::size_t bitmap = (count + 7) / 8;
  const EncodingKind kind = gaps <= bitmap ? EncodingKind::kGaps : EncodingKind::kBitmap;
  const auto kept = ToUint32(indices.size());
  std::byte* to =
      Grow(out, HeadingBytes(count) + VarintSize(kept) + std::min(gaps, bitmap) + values.size_bytes());
  to = WriteVarint(kept, WriteHeading(kind, count, to));
  if (kind == EncodingKind::kGaps) {
    std::uint32_t next = base;
    for (const std::uint32_t index : indices) {
      to = WriteVarint(index - next, to);
      next = index + 1;
    }
  } else {
    for (const std::uint32_t index : indices) {  // the memory is zero
      to[(index - base) / 8] |= static_cast<std::byte>(1U << ((index - base) % 8));
    }
    to += bitmap;
  }
  WriteValues(values, to);
}

void AppendInt8(std::span<const float> values, std::vector<std::byte>& out) {
  std::byte* to = Grow(out, Int8Bytes(values.size()));
  to = WriteHeading(EncodingKind::kInt8, values.size(), to);
  std::int8_t bytes[kInt8Block];
  for (std::size_t begin = 0; begin < values.size(); begin += kInt8Block) {
    const auto block = values.subspan(begin, std::min(kInt8Block, values.size() - begin));
    const float scale = QuantiseBlock(block, bytes);
    std::memcpy(to, &scale, sizeof(scale));
    std::memcpy(to + sizeof(scale), bytes, block.size());
    to += sizeof(scale) + block.size();
  }
}

void AppendOwnHeading(std::size_t count, std::vector<std::byte>& out) {
  WriteHeading(EncodingKind::kOwn, count, Grow(out, HeadingBytes(count)));
}

StatusOr<EncodedUnit> EncodedUnit::Parse(ByteSpan& bytes, std::size_t count, const UnitForm* own) {
  ByteSpan rest = bytes;
  if (rest.empty()) return Corrupt("an encoded unit is missing");
  EncodedUnit unit;
  unit.kind_ = static_cast<EncodingKind>(rest.front());
  rest = rest.subspan(1);
  const auto found = ReadVarint(rest);
  if (!found || *found != count) {
    return Corrupt("an encoded unit must have " + std::to_string(count) + " elements; found " +
                   (found ? std::to_string(*found) : "no number"));
  }
  unit.count_ = count;
  unit.own_ = own;
  switch (unit.kind_) {
    case EncodingKind::kDense:
      TRIBUTARY_RETURN_IF_ERROR(unit.ParseDense(rest));
      break;
    case EncodingKind::kGaps:
    case EncodingKind::kBitmap:
      TRIBUTARY_RETURN_IF_ERROR(unit.ParseSparse(rest));
      break;
    case EncodingKind::kInt8:
      TRIBUTARY_RETURN_IF_ERROR(unit.ParseInt8(rest));
      break;
    case EncodingKind::kOwn:
      TRIBUTARY_RETURN_IF_ERROR(unit.ParseOwn(rest));
      break;
    default:
      return Corrupt("an encoded unit has the unknown kind " + std::to_string(static_cast<int>(unit.kind_)));
  }
  bytes = rest;
  return unit;
}

Status EncodedUnit::ParseDense(ByteSpan& bytes) {
  TRIBUTARY_ASSIGN_OR_RETURN(values_, TakeValues(bytes, count_));
  kept_ = count_;
  return OkStatus();
}

Status EncodedUnit::ParseSparse(ByteSpan& bytes) {
  const auto kept = ReadVarint(bytes);
  if (!kept || *kept > count_) {
    return Corrupt("an encoded unit of " + std::to_string(count_) + " elements cannot hold " +
                   (kept ? std::to_string(*kept) : "an unreadable number of") + " values");
  }
  kept_ = *kept;
  indices_ = bytes.data();
  TRIBUTARY_RETURN_IF_ERROR(kind_ == EncodingKind::kGaps ? CheckGaps(bytes, kept_, count_)
                                                         : CheckBitmap(bytes, kept_, count_));
  TRIBUTARY_ASSIGN_OR_RETURN(values_, TakeValues(bytes, kept_));
  return OkStatus();
}

Status EncodedUnit::ParseInt8(ByteSpan& bytes) {
  const std::size_t needed = sizeof(float) * ((count_ + kInt8Block - 1) / kInt8Block) + count_;
  if (bytes.size() < needed) return TooShort(needed, bytes.size());
  const std::byte* at = bytes.data();
  for (std::size_t begin = 0; begin < count_; begin += kInt8Block) {
    const std::size_t length = std::min(kInt8Block, count_ - begin);
    float scale;
    std::memcpy(&scale, at, sizeof(scale));
    const float largest = scale * 127;
    if (std::bit_cast<std::uint32_t>(scale) >= 0x80000000U || MagnitudeKey(largest) >= kInfinityKey) {
      return Corrupt("the scale of block " + std::to_string(begin / kInt8Block) +
                     " of an encoded unit is negative or not finite");
    }
    for (std::size_t i = 0; i < length; ++i) {
      if (at[sizeof(scale) + i] == std::byte{0x80}) {
        return Corrupt(fmt::format("element {} of an encoded unit is −128; the minimum is −127", begin + i));
      }
    }
    at += sizeof(scale) + length;
  }
  values_ = bytes.data();
  kept_ = count_;
  bytes = bytes.subspan(needed);
  return OkStatus();
}

Status EncodedUnit::ParseOwn(ByteSpan& bytes) {
  if (own_ == nullptr) return Corrupt("an encoded unit has a form that this experiment's codec does not use");
  const std::size_t needed = own_->bytes(count_);
  if (bytes.size() < needed) return TooShort(needed, bytes.size());
  values_ = bytes.data();
  kept_ = count_;
  std::int32_t largest = 0;
  ForEachRun([&](std::size_t, std::span<const float> run) {
    for (const float value : run) largest = std::max(largest, MagnitudeKey(value));
  });
  if (largest >= kInfinityKey) return Corrupt("an encoded unit holds a value that is not finite");
  bytes = bytes.subspan(needed);
  return OkStatus();
}

void EncodedUnit::AddTo(std::span<float> sums) const {
  TRIBUTARY_CHECK(sums.size() == count_);
  ForEachRun([&](std::size_t offset, std::span<const float> run) {
    for (std::size_t i = 0; i < run.size(); ++i) sums[offset + i] += run[i];
  });
}

void EncodedUnit::CopyTo(std::span<float> values) const {
  TRIBUTARY_CHECK(values.size() == count_);
  if (kept_ < count_) std::fill(values.begin(), values.end(), 0.0F);
  ForEachRun([&](std::size_t offset, std::span<const float> run) {
    std::copy(run.begin(), run.end(), values.begin() + static_cast<std::ptrdiff_t>(offset));
  });
}

}  // namespace tributary::inline policy
