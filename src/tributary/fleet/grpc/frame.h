#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline rpc {

// The bytes of a message, taken apart: its fields, and the raw values that come last. They are valid protobuf, but
// no protobuf parser sees megabytes of floats: the values are copied once, to where floats may lie.
struct Frame {
  std::string fields;  // everything before the values
  // On a boundary of eight bytes; `size` of it are used. Memory is kept from one message to the next.
  std::vector<double> storage;
  std::size_t size = 0;

  ByteSpan values() const { return std::as_bytes(std::span(storage)).first(size); }
};

// Takes a message apart that lies in several pieces of memory, as a network delivers it. Refused: fields of more than
// 1 MiB, values that are not last or not as long as they claim, and bytes that are no protobuf at all.
Status SplitFrame(std::span<const ByteSpan> bytes, Frame& frame);

// What goes between the fields and `size` bytes of values.
std::string ValuesHeading(std::size_t size);

// Messages in gRPC's own memory. Values are copied once on the way in and once on the way out: gRPC may still read what
// it was given after it has said that a write is done.

Status ReadFrame(const grpc::ByteBuffer& buffer, Frame& frame);

grpc::ByteBuffer MakeBuffer(const std::string& fields, ByteSpan values);

}  // namespace tributary::inline rpc
