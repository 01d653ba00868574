#include "tributary/fleet/grpc/frame.h"

#include <grpcpp/support/slice.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <optional>

namespace tributary::inline rpc {
namespace {

constexpr std::size_t kMostFields = 1 << 20;
constexpr std::uint64_t kLengthDelimited = 2;
constexpr std::uint64_t kValuesTag = (15 << 3) | kLengthDelimited;

// Reads across the borders of buffers.
class Cursor {
 public:
  explicit Cursor(std::span<const ByteSpan> pieces) : pieces_(pieces) {
    for (const ByteSpan piece : pieces) left_ += piece.size();
    SkipEmpty();
  }

  std::size_t left() const { return left_; }

  // Moves `count` bytes, which must be available.
  void Copy(std::size_t count, std::byte* to) {
    while (count > 0) {
      const std::size_t some = std::min(count, pieces_.front().size() - at_);
      std::memcpy(to, pieces_.front().data() + at_, some);
      to += some;
      count -= some;
      at_ += some;
      left_ -= some;
      SkipEmpty();
    }
  }

  // Reads a protobuf varint and appends its bytes to `seen`.
  std::optional<std::uint64_t> Varint(std::string& seen) {
    std::uint64_t value = 0;
    for (int shift = 0; shift < 64; shift += 7) {
      if (left_ == 0) return std::nullopt;
      std::byte byte;
      Copy(1, &byte);
      seen.push_back(static_cast<char>(byte));
      value |= static_cast<std::uint64_t>(byte & std::byte{0x7f}) << shift;
      if ((byte & std::byte{0x80}) == std::byte{0}) return value;
    }
    return std::nullopt;
  }

 private:
  void SkipEmpty() {
    while (!pieces_.empty() && at_ == pieces_.front().size()) {
      pieces_ = pieces_.subspan(1);
      at_ = 0;
    }
  }

  std::span<const ByteSpan> pieces_;
  std::size_t at_ = 0;
  std::size_t left_ = 0;
};

Status Broken() { return Corrupt("the message is cut off or is no message of this protocol"); }

}  // namespace

Status SplitFrame(std::span<const ByteSpan> bytes, Frame& frame) {
  frame.fields.clear();
  frame.size = 0;
  Cursor cursor(bytes);
  while (cursor.left() > 0) {
    std::string heading;
    const auto tag = cursor.Varint(heading);
    // All fields of these messages are length-delimited.
    if (!tag || (*tag & 7) != kLengthDelimited) return Broken();
    const auto length = cursor.Varint(heading);
    if (!length || *length > cursor.left()) return Broken();
    const auto size = static_cast<std::size_t>(*length);
    if (*tag == kValuesTag) {
      if (size != cursor.left()) return Corrupt("the values of the message are not the last of it");
      frame.storage.resize(std::max(frame.storage.size(), (size + sizeof(double) - 1) / sizeof(double)));
      cursor.Copy(size, std::as_writable_bytes(std::span(frame.storage)).data());
      frame.size = size;
      return OkStatus();
    }
    if (frame.fields.size() + heading.size() + size > kMostFields) {
      return Corrupt("the message has more than 1 MiB besides its values");
    }
    const std::size_t at = frame.fields.size() + heading.size();
    frame.fields += heading;
    frame.fields.resize(at + size);
    cursor.Copy(size, std::as_writable_bytes(std::span(frame.fields)).data() + at);
  }
  return OkStatus();
}

std::string ValuesHeading(std::size_t size) {
  std::string heading(1, static_cast<char>(kValuesTag));
  std::uint64_t left = size;
  for (; left >= 0x80; left >>= 7) heading.push_back(static_cast<char>((left & 0x7f) | 0x80));
  heading.push_back(static_cast<char>(left));
  return heading;
}

Status ReadFrame(const grpc::ByteBuffer& buffer, Frame& frame) {
  std::vector<grpc::Slice> slices;
  if (!buffer.Dump(&slices).ok()) return Corrupt("the message is empty");
  std::vector<ByteSpan> bytes;
  bytes.reserve(slices.size());
  for (const grpc::Slice& slice : slices) {
    bytes.push_back(std::as_bytes(std::span(slice.begin(), slice.size())));
  }
  return SplitFrame(bytes, frame);
}

grpc::ByteBuffer MakeBuffer(const std::string& fields, ByteSpan values) {
  if (values.empty()) {
    const grpc::Slice slice(fields);
    return grpc::ByteBuffer(&slice, 1);
  }
  const grpc::Slice slices[2] = {grpc::Slice(fields + ValuesHeading(values.size())),
                                 grpc::Slice(values.data(), values.size())};
  return grpc::ByteBuffer(slices, 2);
}

}  // namespace tributary::inline rpc
