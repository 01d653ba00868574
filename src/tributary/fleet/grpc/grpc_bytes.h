#pragma once

#include <grpcpp/support/byte_buffer.h>

#include "tributary/fleet/grpc/frame.h"

namespace tributary::inline rpc {

// Messages in gRPC's own memory. Values are copied once on the way in and once on the way out: gRPC may still read what
// it was given after it has said that a write is done.

Status ReadFrame(const grpc::ByteBuffer& buffer, Frame& frame);

grpc::ByteBuffer MakeBuffer(const std::string& fields, ByteSpan values);

}  // namespace tributary::inline rpc
