#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace tributary::inline base {

// Writes a protobuf message in wire format, in call order. Nested messages have their own writers.
class WireWriter {
 public:
  WireWriter& Number(std::uint32_t field, std::int64_t value);
  WireWriter& Real(std::uint32_t field, float value);
  WireWriter& Double(std::uint32_t field, double value);
  WireWriter& Text(std::uint32_t field, std::string_view text);
  WireWriter& Message(std::uint32_t field, const WireWriter& message) { return Text(field, message.bytes()); }

  const std::string& bytes() const { return bytes_; }

 private:
  void Varint(std::uint64_t value);

  std::string bytes_;
};

}  // namespace tributary::inline base
