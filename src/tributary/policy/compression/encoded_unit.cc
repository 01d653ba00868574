#include "tributary/policy/compression/encoded_unit.h"

#include <string>

#include "tributary/policy/compression/magnitude.h"
#include "tributary/policy/compression/varint.h"

namespace tributary {
namespace {

using ByteSpan = std::span<const std::byte>;

static_assert(std::endian::native == std::endian::little, "values are read as they lie in memory");

Status TooShort(std::size_t needed, std::size_t found) {
  return Corrupt("an encoded unit needs " + std::to_string(needed) + " more bytes, and " +
                 std::to_string(found) + " are there");
}

// Takes `count` values off the front.
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
      return Corrupt("index " + std::to_string(i) +
                     " of an encoded unit is cut off or not in its shortest form");
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
    return Corrupt("the bitmap of an encoded unit has bits behind its last element");
  }
  if (bits != kept) {
    return Corrupt("the bitmap of an encoded unit has " + std::to_string(bits) + " bits for " +
                   std::to_string(kept) + " values");
  }
  bytes = bytes.subspan(size);
  return OkStatus();
}

}  // namespace

StatusOr<EncodedUnit> EncodedUnit::Parse(ByteSpan& bytes, std::size_t count) {
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
    default:
      return Corrupt("no encoded unit is of kind " + std::to_string(static_cast<int>(unit.kind_)));
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
        return Corrupt("element " + std::to_string(begin + i) +
                       " of an encoded unit is −128; the least is −127");
      }
    }
    at += sizeof(scale) + length;
  }
  values_ = bytes.data();
  kept_ = count_;
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

}  // namespace tributary
