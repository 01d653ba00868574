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

// Mutual TLS from a party's bundle; nothing at all without one.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const std::optional<Credentials>& credentials);
std::shared_ptr<grpc::ChannelCredentials> MakeChannelCredentials(
    const std::optional<Credentials>& credentials);

// The certificate that the peer of a call has shown; empty without TLS.
std::string PeerCertificate(const grpc::AuthContext& context);

// How gRPC is told to behave, in one place: what messages may weigh, when a silent peer is given up, how much is read
// ahead. Both ends must fit each other, so both are here.

void SetServerArguments(grpc::ServerBuilder& builder);
grpc::ChannelArguments ClientArguments(bool secure, const std::string& coordinator_name);

// gRPC writes to standard error about peers that fail a handshake; what matters of it reaches people as a Status. It
// speaks when the environment sets GRPC_VERBOSITY.
void QuietenGrpc();

grpc::Status ToGrpc(const Status& status);
Status FromGrpc(const grpc::Status& status);

// A connection to be made to a coordinator, whose certificate must be in the name of `coordinator`, whatever the
// address.
std::shared_ptr<grpc::Channel> Dial(const std::string& address, const std::optional<Credentials>& credentials,
                                    const std::string& coordinator);

// The same to a neighbour, HOST:PORT.
std::shared_ptr<grpc::Channel> DialPeer(const std::string& address,
                                        const std::optional<Credentials>& credentials,
                                        const std::string& name);

// Waits until it is made, a few seconds at most.
Status AwaitConnection(grpc::Channel& channel, const std::string& address, const std::function<bool()>& stop);
Status AwaitPeer(grpc::Channel& channel, const std::function<bool()>& stop);

}  // namespace tributary::inline rpc
