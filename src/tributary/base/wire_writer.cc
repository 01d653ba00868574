#include "tributary/base/wire_writer.h"

namespace tributary::inline base {

void WireWriter::Varint(std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) bytes_.push_back(static_cast<char>((value & 0x7f) | 0x80));
  bytes_.push_back(static_cast<char>(value));
}

WireWriter& WireWriter::Number(std::uint32_t field, std::int64_t value) {
  Varint(std::uint64_t{field} << 3);
  Varint(static_cast<std::uint64_t>(value));
  return *this;
}

WireWriter& WireWriter::Real(std::uint32_t field, float value) {
  Varint(std::uint64_t{field} << 3 | 5);
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

WireWriter& WireWriter::Double(std::uint32_t field, double value) {
  Varint(std::uint64_t{field} << 3 | 1);
  bytes_.append(reinterpret_cast<const char*>(&value), sizeof value);
  return *this;
}

WireWriter& WireWriter::Text(std::uint32_t field, std::string_view text) {
  Varint(std::uint64_t{field} << 3 | 2);
  Varint(text.size());
  bytes_ += text;
  return *this;
}

}  // namespace tributary::inline base
