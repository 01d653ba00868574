#pragma once

#include <cstdint>
#include <string_view>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline onnx {

// Reads the fields of one message in protobuf's wire format, in the order they stand, without copying or recursion:
//
//   WireReader reader(bytes);
//   while (reader.Next()) { if (reader.field() == 2) name = reader.text(); … }
//   if (!reader.status().ok()) …
//
// Any bytes may be given. What is not in the format (a length beyond the end, an unknown wire type) ends the reading
// with a Status. A field of another wire type than it is asked for reads as zero or empty, as an absent one would.
class WireReader {
 public:
  explicit WireReader(ByteSpan message) : rest_(message) {}

  // Moves to the next field. No at the end, and where the bytes are not in the format.
  bool Next();
  const Status& status() const { return status_; }

  std::uint32_t field() const { return field_; }
  std::uint64_t number() const { return kind_ == Kind::kVarint ? number_ : 0; }
  std::int64_t integer() const { return static_cast<std::int64_t>(number()); }
  float real() const;
  ByteSpan bytes() const { return kind_ == Kind::kBytes ? bytes_ : ByteSpan(); }
  std::string_view text() const;

  // A repeated number, which stands either alone or packed with others. Appends what this field holds.
  template <typename Numbers>
  void AppendIntegers(Numbers& out);
  template <typename Numbers>
  void AppendReals(Numbers& out);

 private:
  enum class Kind { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

  bool Fail(std::string reason);
  static bool TakeVarint(ByteSpan& from, std::uint64_t& out);
  static float RealAt(ByteSpan bytes);

  ByteSpan rest_;
  Status status_;
  std::uint32_t field_ = 0;
  Kind kind_ = Kind::kVarint;
  std::uint64_t number_ = 0;
  ByteSpan bytes_;
};

template <typename Numbers>
void WireReader::AppendIntegers(Numbers& out) {
  if (kind_ == Kind::kVarint) out.push_back(static_cast<std::int64_t>(number_));
  ByteSpan packed = bytes();
  std::uint64_t value = 0;
  while (!packed.empty()) {
    if (!TakeVarint(packed, value)) {
      Fail("a list of numbers ends in the middle of one");
      return;
    }
    out.push_back(static_cast<std::int64_t>(value));
  }
}

template <typename Numbers>
void WireReader::AppendReals(Numbers& out) {
  if (kind_ == Kind::kFixed32) out.push_back(real());
  for (ByteSpan packed = bytes(); packed.size() >= sizeof(float); packed = packed.subspan(sizeof(float))) {
    out.push_back(RealAt(packed));
  }
}

}  // namespace tributary::inline onnx
