#pragma once

#include <grpc/grpc.h>

namespace tributary::inline rpc {

// Keeps gRPC alive, and with the last of them waits until its threads have ended. Without that they go on for a moment
// after everything of ours is gone, into the end of the process, when what they use (OpenSSL's tables) is taken down.
// To be destroyed after every channel and server.
class GrpcLife {
 public:
  GrpcLife() { grpc_init(); }
  ~GrpcLife() { grpc_shutdown_blocking(); }
  GrpcLife(const GrpcLife&) = delete;
  GrpcLife& operator=(const GrpcLife&) = delete;
};

}  // namespace tributary::inline rpc
