#include "tributary/policy/compression/encoding.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "tributary/base/check.h"
#include "tributary/policy/compression/int8_block.h"
#include "tributary/policy/compression/varint.h"

namespace tributary {
namespace {

static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");

std::uint32_t Narrow(std::size_t count) {
  TRIBUTARY_CHECK(count <= std::numeric_limits<std::uint32_t>::max());
  return static_cast<std::uint32_t>(count);
}

std::size_t HeadingBytes(std::size_t count) { return 1 + VarintSize(Narrow(count)); }

std::byte* WriteHeading(EncodingKind kind, std::size_t count, std::byte* to) {
  *to++ = static_cast<std::byte>(kind);
  return WriteVarint(Narrow(count), to);
}

std::byte* Grow(std::vector<std::byte>& out, std::size_t bytes) {
  const std::size_t size = out.size();
  out.resize(size + bytes);
  return out.data() + size;
}

void WriteValues(std::span<const float> values, std::byte* to) {
  if (!values.empty()) std::memcpy(to, values.data(), values.size_bytes());
}

// Between an element and the one before it.
std::size_t GapBytes(std::span<const std::uint32_t> indices, std::uint32_t base) {
  if (indices.empty()) return 0;
  std::size_t bytes = VarintSize(indices[0] - base);
  constexpr std::size_t kBlock = 1 << 16;  // So that the inner sum is as narrow as the indices.
  for (std::size_t begin = 1; begin < indices.size(); begin += kBlock) {
    const std::size_t end = std::min(indices.size(), begin + kBlock);
    std::uint32_t sum = 0;
    for (std::size_t i = begin; i < end; ++i) {
      const std::uint32_t gap = indices[i] - indices[i - 1] - 1;
      sum += 1U + (gap >= 1U << 7) + (gap >= 1U << 14) + (gap >= 1U << 21) + (gap >= 1U << 28);
    }
    bytes += sum;
  }
  return bytes;
}

SparseSize SizeFrom(std::size_t count, std::span<const std::uint32_t> indices, std::uint32_t base) {
  const std::size_t gaps = GapBytes(indices, base);
  const std::size_t bitmap = (count + 7) / 8;
  const std::size_t rest =
      HeadingBytes(count) + VarintSize(Narrow(indices.size())) + sizeof(float) * indices.size();
  if (gaps <= bitmap) return {EncodingKind::kGaps, rest + gaps};
  return {EncodingKind::kBitmap, rest + bitmap};
}

}  // namespace

std::size_t DenseBytes(std::size_t count) { return HeadingBytes(count) + sizeof(float) * count; }

std::size_t Int8Bytes(std::size_t count) {
  return HeadingBytes(count) + sizeof(float) * ((count + kInt8Block - 1) / kInt8Block) + count;
}

SparseSize SizeOfSparse(std::size_t count, std::span<const std::uint32_t> indices) {
  return SizeFrom(count, indices, 0);
}

void AppendDense(std::span<const float> values, std::vector<std::byte>& out) {
  std::byte* const to = Grow(out, DenseBytes(values.size()));
  WriteValues(values, WriteHeading(EncodingKind::kDense, values.size(), to));
}

void AppendSparse(std::size_t count, std::span<const std::uint32_t> indices, std::span<const float> values,
                  std::vector<std::byte>& out, std::uint32_t base) {
  TRIBUTARY_CHECK(indices.size() == values.size());
  TRIBUTARY_CHECK(indices.empty() || (indices.front() >= base && indices.back() - base < count));
  const SparseSize size = SizeFrom(count, indices, base);
  std::byte* to = Grow(out, size.bytes);
  to = WriteVarint(Narrow(indices.size()), WriteHeading(size.kind, count, to));
  if (size.kind == EncodingKind::kGaps) {
    std::uint32_t next = base;
    for (const std::uint32_t index : indices) {
      to = WriteVarint(index - next, to);
      next = index + 1;
    }
  } else {
    for (const std::uint32_t index : indices) {  // The memory is zero.
      to[(index - base) / 8] |= static_cast<std::byte>(1U << ((index - base) % 8));
    }
    to += (count + 7) / 8;
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

}  // namespace tributary
