#pragma once

#include <grpcpp/security/auth_context.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/security/server_credentials.h>

#include <memory>
#include <optional>

#include "tributary/keys/credentials.h"

namespace tributary::inline rpc {

// Mutual TLS from a party's bundle; nothing at all without one.
std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(const std::optional<Credentials>& credentials);
std::shared_ptr<grpc::ChannelCredentials> MakeChannelCredentials(
    const std::optional<Credentials>& credentials);

// The certificate that the peer of a call has shown; empty without TLS.
std::string PeerCertificate(const grpc::AuthContext& context);

}  // namespace tributary::inline rpc
