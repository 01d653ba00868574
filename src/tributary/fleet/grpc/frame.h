#pragma once

#include <grpcpp/support/byte_buffer.h>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "tributary/base/file.h"
#include "tributary/base/status.h"

namespace tributary::inline rpc {

// A message divided into its fields and the raw values at its end. Together they are valid protobuf, but no
// protobuf parser sees megabytes of floats: the values are copied once, to memory aligned for floats.
struct Frame {
  std::string fields;  // everything before the values
  // 8-byte aligned; the first `size` bytes are used. Memory is reused for the next message.
  std::vector<double> storage;
  std::size_t size = 0;
  ByteSpan values() const { return std::as_bytes(std::span(storage)).first(size); }
};

// Divides a message that lies in several buffers, as received. Fails on fields of more than 1 MiB, values
// that are not last or have a wrong length, and bytes that are not protobuf.
Status SplitFrame(std::span<const ByteSpan> bytes, Frame& frame);

// The bytes between the fields and `size` bytes of values.
std::string ValuesHeading(std::size_t size);

// Messages in gRPC's memory. Values are copied in both directions: gRPC may read buffers after OnWriteDone.

Status ReadFrame(const grpc::ByteBuffer& buffer, Frame& frame);

grpc::ByteBuffer MakeBuffer(const std::string& fields, ByteSpan values);

}  // namespace tributary::inline rpc
