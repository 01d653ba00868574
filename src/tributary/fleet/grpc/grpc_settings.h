#pragma once

#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/status.h>

#include "tributary/base/status.h"

namespace tributary::inline rpc {

// How gRPC is told to behave, in one place: what messages may weigh, when a silent peer is given up, how much is read
// ahead. Both ends must fit each other, so both are here.

void SetServerArguments(grpc::ServerBuilder& builder);
grpc::ChannelArguments ClientArguments(bool secure, const std::string& coordinator_name);

// gRPC writes to standard error about peers that fail a handshake; what matters of it reaches people as a Status. It
// speaks when the environment sets GRPC_VERBOSITY.
void QuietenGrpc();

grpc::Status ToGrpc(const Status& status);
Status FromGrpc(const grpc::Status& status);

}  // namespace tributary::inline rpc
