#pragma once

#include <grpc/grpc.h>
#include <grpcpp/channel.h>
#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>
#include <grpcpp/server_builder.h>
#include <grpcpp/support/channel_arguments.h>
#include <grpcpp/support/status.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tributary/base/status.h"
#include "tributary/keys/credentials.h"

namespace tributary::inline rpc {

// Keeps gRPC initialised; the last destructor waits for gRPC's threads. Otherwise they would continue while
// the process exits and destroys what they use (OpenSSL's tables). Destroy it after every channel and server.
class GrpcLife {
 public:
  GrpcLife() { grpc_init(); }
  ~GrpcLife() { grpc_shutdown_blocking(); }
  GrpcLife(const GrpcLife&) = delete;
  GrpcLife& operator=(const GrpcLife&) = delete;
};

// Mutual TLS from a party's bundle; insecure without one.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const std::optional<Credentials>& credentials);
std::shared_ptr<grpc::ChannelCredentials> MakeChannelCredentials(
    const std::optional<Credentials>& credentials);

// The certificate of a call's peer; empty without TLS.
std::string PeerCertificate(const grpc::AuthContext& context);

// gRPC settings of both ends, which must match: message sizes, keepalive and read-ahead.

void SetServerArguments(grpc::ServerBuilder& builder);
grpc::ChannelArguments ClientArguments(bool secure, const std::string& coordinator_name);

// Suppresses gRPC's messages on standard error, unless GRPC_VERBOSITY is set. Errors are reported as Status.
void QuietenGrpc();

grpc::Status ToGrpc(const Status& status);
Status FromGrpc(const grpc::Status& status);

// A channel to a coordinator. With TLS its certificate must have the name `coordinator`.
std::shared_ptr<grpc::Channel> Dial(const std::string& address, const std::optional<Credentials>& credentials,
                                    const std::string& coordinator);

// A channel to a neighbour at HOST:PORT.
std::shared_ptr<grpc::Channel> DialPeer(const std::string& address,
                                        const std::optional<Credentials>& credentials,
                                        const std::string& name);

// Wait for the connection, for a few seconds at most.
Status AwaitConnection(grpc::Channel& channel, const std::string& address, const std::function<bool()>& stop);
Status AwaitPeer(grpc::Channel& channel, const std::function<bool()>& stop);

}  // namespace tributary::inline rpc
