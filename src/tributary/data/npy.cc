#include "tributary/data/npy.h"

#include <array>
#include <bit>
#include <cstring>
#include <string>

#include "tributary/base/check.h"
#include "tributary/data/npy_header.h"

namespace tributary {
namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeInfo {
  NpyType type;
  std::string_view code;  // Without the byte order.
  std::string_view name;
};

constexpr std::array<TypeInfo, 11> kTypes = {{{NpyType::kUint8, "u1", "uint8"},
                                              {NpyType::kUint16, "u2", "uint16"},
                                              {NpyType::kUint32, "u4", "uint32"},
                                              {NpyType::kUint64, "u8", "uint64"},
                                              {NpyType::kInt8, "i1", "int8"},
                                              {NpyType::kInt16, "i2", "int16"},
                                              {NpyType::kInt32, "i4", "int32"},
                                              {NpyType::kInt64, "i8", "int64"},
                                              {NpyType::kFloat16, "f2", "float16"},
                                              {NpyType::kFloat32, "f4", "float32"},
                                              {NpyType::kFloat64, "f8", "float64"}}};

std::size_t SizeOf(const TypeInfo& info) { return static_cast<std::size_t>(info.code[1] - '0'); }

StatusOr<TypeInfo> FindType(std::string_view descr) {
  for (const TypeInfo& info : kTypes) {
    if (descr.size() != 3 || descr.substr(1) != info.code) continue;
    const char order = descr[0];
    // A single byte has no order, whatever the header says. '=' would mean the writer's own, which is not in
    // the file.
    if (order == '<' || (SizeOf(info) == 1 && (order == '|' || order == '>'))) return info;
    return Corrupt("the values are '" + std::string(descr) +
                   "'; multi-byte values must be little-endian, '<" + std::string(info.code) + "'");
  }
  std::string known;
  for (const TypeInfo& info : kTypes) known += (known.empty() ? "" : ", ") + std::string(info.name);
  return Corrupt("the values are of type '" + std::string(descr) + "'; what can be read is " + known);
}

std::size_t LittleEndian(ByteSpan bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::size_t>(bytes[i]);
  return value;
}

// Where the header's text begins and how long it says it is.
StatusOr<std::pair<std::size_t, std::size_t>> LocateHeader(ByteSpan bytes) {
  constexpr std::size_t kVersionEnd = 8;
  if (bytes.size() < kVersionEnd || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return Corrupt("a .npy file starts with \\x93NUMPY and two bytes of version at byte 0, which these " +
                   std::to_string(bytes.size()) + " bytes do not");
  }
  const auto major = std::to_integer<unsigned>(bytes[6]), minor = std::to_integer<unsigned>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0) {
    return Corrupt("the version at byte 6 must be 1.0, 2.0 or 3.0, found " + std::to_string(major) + "." +
                   std::to_string(minor));
  }
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = kVersionEnd + length_bytes;
  if (bytes.size() < begin) {
    return Corrupt("the file ends at byte " + std::to_string(bytes.size()) +
                   ", inside the length of its header");
  }
  const std::size_t length = LittleEndian(bytes.subspan(kVersionEnd, length_bytes));
  if (length > bytes.size() - begin) {
    return Corrupt("the header at byte " + std::to_string(begin) + " claims " + std::to_string(length) +
                   " bytes, but only " + std::to_string(bytes.size() - begin) + " follow");
  }
  return std::pair(begin, length);
}

template <typename T>
std::vector<std::byte> Format(std::span<const std::size_t> shape, std::span<const T> values,
                              std::string_view descr) {
  static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");
  TRIBUTARY_CHECK(shape.size() <= kNpyMostDimensions);
  std::size_t count = 1;
  std::string header = "{'descr': '" + std::string(descr) + "', 'fortran_order': False, 'shape': (";
  for (const std::size_t side : shape) {
    count *= side;
    header += std::to_string(side) + ",";
  }
  TRIBUTARY_CHECK(count == values.size());
  header += "), }";
  // NumPy starts the values on a multiple of 64 bytes, so that they can be mapped.
  constexpr std::size_t kBefore = 10, kAlignment = 64;
  while ((kBefore + header.size() + 1) % kAlignment != 0) header += ' ';
  header += '\n';
  std::vector<std::byte> bytes(kBefore + header.size() + values.size_bytes());
  std::memcpy(bytes.data(), kMagic.data(), kMagic.size());
  bytes[6] = std::byte{1};
  bytes[8] = static_cast<std::byte>(header.size() & 0xff);
  bytes[9] = static_cast<std::byte>(header.size() >> 8);
  std::memcpy(bytes.data() + kBefore, header.data(), header.size());
  if (!values.empty())
    std::memcpy(bytes.data() + kBefore + header.size(), values.data(), values.size_bytes());
  return bytes;
}

}  // namespace

std::string_view NpyTypeName(NpyType type) { return kTypes[static_cast<std::size_t>(type)].name; }

StatusOr<NpyArray> ParseNpy(ByteSpan bytes) {
  TRIBUTARY_ASSIGN_OR_RETURN(const auto located, LocateHeader(bytes));
  const auto [begin, length] = located;
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()) + begin, length);
  TRIBUTARY_ASSIGN_OR_RETURN(NpyHeader header, ParseNpyHeader(text, begin));
  TRIBUTARY_ASSIGN_OR_RETURN(const TypeInfo info, FindType(header.type));
  if (header.fortran_order && header.shape.size() > 1) {
    return Corrupt("the values lie in Fortran order; save with numpy.ascontiguousarray first");
  }

  NpyArray array{info.type, std::move(header.shape), 1, bytes.subspan(begin + length)};
  for (const std::size_t side : array.shape) {
    if (side == 0) array.count = 0;
  }
  // Dividing what is there keeps the product from overflowing, however large the sides claim to be.
  const std::size_t present = array.bytes.size() / SizeOf(info);
  for (std::size_t i = 0; i < array.shape.size() && array.count != 0; ++i) {
    if (array.shape[i] > present / array.count) {
      return Corrupt("the header promises more values of " + std::string(info.name) + " than the " +
                     std::to_string(array.bytes.size()) + " bytes from byte " +
                     std::to_string(begin + length) + " can hold");
    }
    array.count *= array.shape[i];
  }
  if (array.count * SizeOf(info) != array.bytes.size()) {
    return Corrupt("the header promises " + std::to_string(array.count) + " values of " +
                   std::string(info.name) + ", " + std::to_string(array.count * SizeOf(info)) +
                   " bytes; found " + std::to_string(array.bytes.size()) + " from byte " +
                   std::to_string(begin + length));
  }
  return array;
}

std::vector<std::byte> FormatNpy(std::span<const std::size_t> shape, std::span<const float> values) {
  return Format(shape, values, "<f4");
}

std::vector<std::byte> FormatNpy(std::span<const std::size_t> shape, std::span<const std::int64_t> values) {
  return Format(shape, values, "<i8");
}

Status WriteNpy(const std::filesystem::path& path, std::span<const std::size_t> shape,
                std::span<const float> values) {
  const std::vector<std::byte> bytes = FormatNpy(shape, values);
  return WriteFileAtomically(path, std::array<ByteSpan, 1>{bytes});
}

Status WriteNpy(const std::filesystem::path& path, std::span<const std::size_t> shape,
                std::span<const std::int64_t> values) {
  const std::vector<std::byte> bytes = FormatNpy(shape, values);
  return WriteFileAtomically(path, std::array<ByteSpan, 1>{bytes});
}

}  // namespace tributary
