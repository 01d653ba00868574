#include "tributary/data/npy.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tributary/base/check.h"
#include "tributary/policy/compression/float_bits.h"

namespace tributary::inline data {
namespace {

constexpr std::size_t kNpyMostDimensions = 8;

// The content of a .npy header: a Python dictionary with exactly these three keys, in any order.
struct NpyHeader {
  std::string type;  // "<f4", "|u1", …: not checked here
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

// A parser for the Python that NumPy writes. `offset` is the text's position in its file, for errors.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::size_t offset) : text_(text), offset_(offset) {}

  StatusOr<NpyHeader> Read() {
    NpyHeader header;
    bool seen[3] = {};
    TRIBUTARY_RETURN_IF_ERROR(Expect('{'));
    while (!Accept('}')) {
      TRIBUTARY_ASSIGN_OR_RETURN(const std::string key, String("a key"));
      TRIBUTARY_RETURN_IF_ERROR(Expect(':'));
      std::size_t which = 0;
      if (key == "descr") {
        if (Peek() == '[') return Fail("a plain type; arrays of structures are not read");
        TRIBUTARY_ASSIGN_OR_RETURN(header.type, String("a type"));
      } else if (key == "fortran_order") {
        which = 1;
        TRIBUTARY_ASSIGN_OR_RETURN(header.fortran_order, Boolean());
      } else if (key == "shape") {
        which = 2;
        TRIBUTARY_ASSIGN_OR_RETURN(header.shape, Tuple());
      } else {
        return Fail("the value of 'descr', 'fortran_order' or 'shape', but the key before is '" + key + "'");
      }
      if (seen[which]) return Fail("each key once, but '" + key + "' is given twice");
      seen[which] = true;
      if (!Accept(',') && Peek() != '}') return Fail("',' or '}'");
    }
    if (!seen[0] || !seen[1] || !seen[2]) return Fail("'descr', 'fortran_order' and 'shape' before the end");
    SkipSpace();
    if (at_ != text_.size()) return Fail("nothing but spaces after '}'");
    return header;
  }

 private:
  static bool IsSpace(char c) { return c == ' ' || c == '\n' || c == '\t' || c == '\r'; }
  void SkipSpace() {
    while (at_ < text_.size() && IsSpace(text_[at_])) ++at_;
  }
  // The next character after spaces, or 0 at the end.
  char Peek() {
    SkipSpace();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool Accept(char c) {
    if (at_ >= text_.size() || Peek() != c) return false;
    ++at_;
    return true;
  }
  Status Expect(char c) { return Accept(c) ? OkStatus() : Fail(std::string("'") + c + "'"); }

  Status Fail(const std::string& expected) {
    SkipSpace();
    std::string found = "the end of the header";
    if (at_ < text_.size()) {
      const char c = text_[at_];
      found = c >= ' ' && c <= '~' ? fmt::format("'{}'", c)
                                   : fmt::format("'\\{}'", static_cast<unsigned char>(c));
    }
    return Corrupt(
        fmt::format("the header at byte {} must have {}; found {}", offset_ + at_, expected, found));
  }

  StatusOr<std::string> String(const std::string& what) {
    const char quote = Peek();
    if (quote != '\'' && quote != '"') return Fail(what + " in quotes");
    const std::size_t end = text_.find(quote, at_ + 1);
    constexpr std::size_t kLongest = 64;
    if (end == std::string_view::npos || end - at_ > kLongest) return Fail(what + " in quotes");
    std::string content(text_.substr(at_ + 1, end - at_ - 1));
    for (const char c : content) {
      // Also keeps control characters out of messages.
      if (c < ' ' || c > '~' || c == '\\') return Fail(what + " of plain characters");
    }
    at_ = end + 1;
    return content;
  }

  StatusOr<bool> Boolean() {
    SkipSpace();
    for (const bool value : {false, true}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) != word) continue;
      at_ += word.size();
      return value;
    }
    return Fail("True or False");
  }

  StatusOr<std::vector<std::size_t>> Tuple() {
    std::vector<std::size_t> sides;
    TRIBUTARY_RETURN_IF_ERROR(Expect('('));
    while (!Accept(')')) {
      if (sides.size() == kNpyMostDimensions)
        return Fail(fmt::format("at most {} dimensions", kNpyMostDimensions));
      SkipSpace();
      std::size_t side = 0;
      const auto [rest, error] = std::from_chars(text_.data() + at_, text_.data() + text_.size(), side);
      if (error != std::errc()) return Fail("a whole number below 2^64");
      at_ = static_cast<std::size_t>(rest - text_.data());
      sides.push_back(side);
      // In Python, (5) is a number and (5,) a tuple.
      if (!Accept(',') && (Peek() != ')' || sides.size() == 1)) return Fail("','");
    }
    return sides;
  }

  std::string_view text_;
  std::size_t offset_;
  std::size_t at_ = 0;
};

constexpr std::string_view kMagic = "\x93NUMPY";

struct TypeInfo {
  NpyType type;
  std::string_view code;  // without the byte order
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
    // The order of a single byte is irrelevant. '=' means the writer's order, which the file does not record.
    if (order == '<' || (SizeOf(info) == 1 && (order == '|' || order == '>'))) return info;
    return Corrupt(
        fmt::format("the values are '{}'; multi-byte values must be little-endian, '<{}'", descr, info.code));
  }
  std::vector<std::string_view> names;
  for (const TypeInfo& info : kTypes) names.push_back(info.name);
  return Corrupt(
      fmt::format("the values are of type '{}'; what can be read is {}", descr, fmt::join(names, ", ")));
}

std::size_t LittleEndian(ByteSpan bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | std::to_integer<std::size_t>(bytes[i]);
  return value;
}

// Offset and claimed length of the header's text.
StatusOr<std::pair<std::size_t, std::size_t>> LocateHeader(ByteSpan bytes) {
  constexpr std::size_t kVersionEnd = 8;
  if (bytes.size() < kVersionEnd || std::memcmp(bytes.data(), kMagic.data(), kMagic.size()) != 0) {
    return Corrupt(fmt::format(
        "a .npy file starts with \\x93NUMPY and two bytes of version at byte 0, which these {} bytes do not",
        bytes.size()));
  }
  const auto major = std::to_integer<unsigned>(bytes[6]), minor = std::to_integer<unsigned>(bytes[7]);
  if (major < 1 || major > 3 || minor != 0)
    return Corrupt(fmt::format("the version at byte 6 must be 1.0, 2.0 or 3.0, found {}.{}", major, minor));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  const std::size_t begin = kVersionEnd + length_bytes;
  if (bytes.size() < begin)
    return Corrupt(fmt::format("the file ends at byte {}, inside the length of its header", bytes.size()));
  const std::size_t length = LittleEndian(bytes.subspan(kVersionEnd, length_bytes));
  if (length > bytes.size() - begin) {
    return Corrupt(fmt::format("the header at byte {} claims {} bytes, but only {} follow", begin, length,
                               bytes.size() - begin));
  }
  return std::pair(begin, length);
}

template <typename T>
std::vector<std::byte> Format(std::span<const std::size_t> shape, std::span<const T> values,
                              std::string_view descr) {
  static_assert(std::endian::native == std::endian::little, "values are written as they lie in memory");
  TRIBUTARY_CHECK(shape.size() <= kNpyMostDimensions);
  std::size_t count = 1;
  for (const std::size_t side : shape) count *= side;
  TRIBUTARY_CHECK(count == values.size());
  std::string header = fmt::format("{{'descr': '{}', 'fortran_order': False, 'shape': ({}{}), }}", descr,
                                   fmt::join(shape, ","), shape.empty() ? "" : ",");
  // As NumPy does, aligns the values to 64 bytes, so that they can be mapped.
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
  TRIBUTARY_ASSIGN_OR_RETURN(NpyHeader header, HeaderReader(text, begin).Read());
  TRIBUTARY_ASSIGN_OR_RETURN(const TypeInfo info, FindType(header.type));
  if (header.fortran_order && header.shape.size() > 1)
    return Corrupt("the values lie in Fortran order; save with numpy.ascontiguousarray first");
  NpyArray array{info.type, std::move(header.shape), 1, bytes.subspan(begin + length)};
  if (std::ranges::find(array.shape, 0U) != array.shape.end()) array.count = 0;
  // Dividing the bytes present prevents overflow of the product, for any claimed sizes.
  const std::size_t present = array.bytes.size() / SizeOf(info);
  for (std::size_t i = 0; i < array.shape.size() && array.count != 0; ++i) {
    if (array.shape[i] > present / array.count) {
      return Corrupt(
          fmt::format("the header promises more values of {} than the {} bytes from byte {} can hold",
                      info.name, array.bytes.size(), begin + length));
    }
    array.count *= array.shape[i];
  }
  if (array.count * SizeOf(info) != array.bytes.size()) {
    return Corrupt(fmt::format("the header promises {} values of {}, {} bytes; found {} from byte {}",
                               array.count, info.name, array.count * SizeOf(info), array.bytes.size(),
                               begin + length));
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
  return WriteFileAtomically(path, std::array<ByteSpan, 1>{FormatNpy(shape, values)});
}

Status WriteNpy(const std::filesystem::path& path, std::span<const std::size_t> shape,
                std::span<const std::int64_t> values) {
  return WriteFileAtomically(path, std::array<ByteSpan, 1>{FormatNpy(shape, values)});
}

namespace {

static_assert(std::endian::native == std::endian::little, "values are read as they lie in the file");

struct Half {
  std::uint16_t bits = 0;
  explicit operator double() const { return FromHalf(bits); }
};

float ToFloat(double value) {
  // Converting a double beyond the range of float is undefined in C++, though not in IEEE 754.
  constexpr double kMost = std::numeric_limits<float>::max();
  if (std::abs(value) > kMost && std::isfinite(value))
    return std::copysign(std::numeric_limits<float>::infinity(), static_cast<float>(value > 0 ? 1 : -1));
  return static_cast<float>(value);
}

// Calls `function` with each value until it returns false.
template <typename T, typename Function>
void ForEachOf(const NpyArray& array, const Function& function) {
  for (std::size_t i = 0; i < array.count; ++i) {
    T value;  // The values may be unaligned.
    std::memcpy(&value, array.bytes.data() + i * sizeof(T), sizeof(T));
    if (!function(value)) return;
  }
}

template <typename Function>
void ForEach(const NpyArray& array, const Function& function) {
  switch (array.type) {
    case NpyType::kUint8:
      return ForEachOf<std::uint8_t>(array, function);
    case NpyType::kUint16:
      return ForEachOf<std::uint16_t>(array, function);
    case NpyType::kUint32:
      return ForEachOf<std::uint32_t>(array, function);
    case NpyType::kUint64:
      return ForEachOf<std::uint64_t>(array, function);
    case NpyType::kInt8:
      return ForEachOf<std::int8_t>(array, function);
    case NpyType::kInt16:
      return ForEachOf<std::int16_t>(array, function);
    case NpyType::kInt32:
      return ForEachOf<std::int32_t>(array, function);
    case NpyType::kInt64:
      return ForEachOf<std::int64_t>(array, function);
    case NpyType::kFloat16:
      return ForEachOf<Half>(array, function);
    case NpyType::kFloat32:
      return ForEachOf<float>(array, function);
    case NpyType::kFloat64:
      return ForEachOf<double>(array, function);
  }
  TRIBUTARY_CHECK(false);
}

// Converts a whole number that fits into 64 bits; false otherwise.
template <typename T>
bool ToInteger(T value, std::int64_t& integer) {
  if constexpr (std::is_integral_v<T>) {
    if (!std::in_range<std::int64_t>(value)) return false;
    integer = static_cast<std::int64_t>(value);  // NOLINT(bugprone-signed-char-misuse): int8 is a number.
  } else {
    const auto number = static_cast<double>(value);
    // −2^63 is a double exactly and fits; 2^63 does not. NaN fails both.
    if (!(number >= -0x1p63 && number < 0x1p63) || number != std::floor(number)) return false;
    integer = static_cast<std::int64_t>(number);
  }
  return true;
}

}  // namespace

std::vector<float> NpyToFloats(const NpyArray& array) {
  std::vector<float> values;
  values.reserve(array.count);
  ForEach(array, [&](auto value) {
    values.push_back(ToFloat(static_cast<double>(value)));
    return true;
  });
  return values;
}

StatusOr<std::vector<std::int64_t>> NpyToIntegers(const NpyArray& array) {
  std::vector<std::int64_t> values;
  values.reserve(array.count);
  ForEach(array, [&](auto value) {
    std::int64_t integer = 0;
    if (!ToInteger(value, integer)) return false;
    values.push_back(integer);
    return true;
  });
  if (values.size() != array.count) {
    return Corrupt(fmt::format("value {} of {} ({}) is not a whole number between -2^63 and 2^63 - 1",
                               values.size(), array.count, NpyTypeName(array.type)));
  }
  return values;
}

}  // namespace tributary::inline data
