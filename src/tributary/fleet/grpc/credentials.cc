#include "tributary/fleet/grpc/credentials.h"

#include <grpc/grpc_security_constants.h>

namespace tributary::inline rpc {

std::shared_ptr<grpc::ServerCredentials> MakeServerCredentials(
    const std::optional<Credentials>& credentials) {
  if (!credentials) return grpc::InsecureServerCredentials();
  grpc::SslServerCredentialsOptions options(GRPC_SSL_REQUEST_AND_REQUIRE_CLIENT_CERTIFICATE_AND_VERIFY);
  options.pem_root_certs = credentials->authority_pem;
  options.pem_key_cert_pairs.push_back({credentials->key_pem, credentials->certificate_pem});
  return grpc::SslServerCredentials(options);
}

std::shared_ptr<grpc::ChannelCredentials> MakeChannelCredentials(
    const std::optional<Credentials>& credentials) {
  if (!credentials) return grpc::InsecureChannelCredentials();
  return grpc::SslCredentials(
      {credentials->authority_pem, credentials->key_pem, credentials->certificate_pem});
}

std::string PeerCertificate(const grpc::AuthContext& context) {
  const auto found = context.FindPropertyValues(GRPC_X509_PEM_CERT_PROPERTY_NAME);
  return found.empty() ? "" : std::string(found.front().data(), found.front().size());
}

}  // namespace tributary::inline rpc
