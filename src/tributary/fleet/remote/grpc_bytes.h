#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "tributary/fleet/remote/frame.h"

namespace tributary::remote {

// Messages in gRPC's own memory. Values are copied once on the way in; on the way out once, or not at all where the
// caller keeps them in place until the write is done.

Status ReadFrame(const grpc::ByteBuffer& buffer, Frame& frame);

enum class Values { kCopy, kInPlace };
grpc::ByteBuffer MakeBuffer(const std::string& fields, ByteSpan values, Values how);

}  // namespace tributary::remote
