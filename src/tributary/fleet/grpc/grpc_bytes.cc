#include "tributary/fleet/grpc/grpc_bytes.h"

#include <grpcpp/support/slice.h>

namespace tributary::inline rpc {

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
