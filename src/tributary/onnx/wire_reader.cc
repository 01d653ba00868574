#include "tributary/onnx/wire_reader.h"

#include <bit>
#include <cstring>

namespace tributary::inline onnx {

bool WireReader::Fail(std::string reason) {
  if (status_.ok()) status_ = Corrupt(std::move(reason));
  rest_ = {};
  return false;
}

bool WireReader::TakeVarint(ByteSpan& from, std::uint64_t& out) {
  constexpr std::size_t kLongest = 10;
  out = 0;
  for (std::size_t i = 0; i < from.size() && i < kLongest; ++i) {
    const auto byte = std::to_integer<std::uint64_t>(from[i]);
    out |= (byte & 0x7f) << (7 * i);
    if ((byte & 0x80) != 0) continue;
    from = from.subspan(i + 1);
    return true;
  }
  return false;
}

float WireReader::RealAt(ByteSpan bytes) {
  static_assert(std::endian::native == std::endian::little, "floats are read as they lie in the file");
  float value = 0;
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

float WireReader::real() const { return kind_ == Kind::kFixed32 ? RealAt(bytes_) : 0; }

std::string_view WireReader::text() const {
  const ByteSpan raw = bytes();
  return {reinterpret_cast<const char*>(raw.data()), raw.size()};
}

bool WireReader::Next() {
  if (rest_.empty()) return false;
  std::uint64_t key = 0;
  if (!TakeVarint(rest_, key) || key >> 3 == 0 || key >> 32 != 0) return Fail("a field has no valid number");
  field_ = static_cast<std::uint32_t>(key >> 3);
  kind_ = static_cast<Kind>(key & 7);
  std::uint64_t size = 0;
  switch (kind_) {
    case Kind::kVarint:
      if (!TakeVarint(rest_, number_))
        return Fail("field " + std::to_string(field_) + " ends in the middle of a number");
      return true;
    case Kind::kFixed64:
      size = 8;
      break;
    case Kind::kFixed32:
      size = 4;
      break;
    case Kind::kBytes:
      if (!TakeVarint(rest_, size))
        return Fail("field " + std::to_string(field_) + " ends in the middle of its length");
      break;
    default:
      return Fail("field " + std::to_string(field_) + " is of a kind that protobuf does not have");
  }
  if (size > rest_.size()) {
    return Fail("field " + std::to_string(field_) + " says it takes " + std::to_string(size) +
                " bytes but only " + std::to_string(rest_.size()) + " follow");
  }
  bytes_ = rest_.first(size);
  rest_ = rest_.subspan(size);
  return true;
}

}  // namespace tributary::inline onnx
