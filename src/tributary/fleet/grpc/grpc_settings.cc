#include "tributary/fleet/grpc/grpc_settings.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/grpc_security_constants.h>
#include <grpc/support/log.h>
#include <grpcpp/create_channel.h>
#include <grpcpp/resource_quota.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>

#include "tributary/fleet/messages.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline rpc {
namespace {

// A peer that is silent for longer is gone: its machine, its process or the network.
constexpr int kPingAfterMs = 5'000;
constexpr int kPingTimeoutMs = 5'000;
// Unread bytes per stream; times the number of devices, this is the coordinator's memory.
constexpr int kReadAheadBytes = 256 << 10;

using std::chrono::system_clock;

// Whether a connection was made within `most`. gRPC notifies changes; `stop` has to be polled.
StatusOr<bool> Connect(grpc::Channel& channel, std::chrono::milliseconds most,
                       const std::function<bool()>& stop) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(100);
  const system_clock::time_point until = system_clock::now() + most;
  grpc_connectivity_state state = channel.GetState(/*try_to_connect=*/true);
  while (state != GRPC_CHANNEL_READY) {
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) return false;
    if (stop && stop()) return Cancelled("stopped while dialling");
    const system_clock::time_point now = system_clock::now();
    if (now >= until) return false;
    channel.WaitForStateChange(state, stop ? std::min(until, now + kBetweenLooks) : until);
    state = channel.GetState(false);
  }
  return true;
}

}  // namespace

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

void SetServerArguments(grpc::ServerBuilder& builder) {
  builder.SetMaxReceiveMessageSize(kLargestMessage);
  builder.SetMaxSendMessageSize(kLargestMessage);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIME_MS, kPingAfterMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, kPingAfterMs / 2);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 5);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kReadAheadBytes);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 8);  // per connection
  builder.AddChannelArgument("grpc.server_handshake_timeout_ms", 10'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             30'000);  // connections without calls are useless
}

grpc::ChannelArguments ClientArguments(bool secure, const std::string& coordinator_name) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(kLargestMessage);
  arguments.SetMaxSendMessageSize(kLargestMessage);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, kPingAfterMs);
  arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, kPingTimeoutMs);
  arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_BDP_PROBE, 0);
  arguments.SetInt(GRPC_ARG_HTTP2_STREAM_LOOKAHEAD_BYTES, kLargestMessage);
  // Each session has its own connection, so that a broken one affects a single device.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Whatever the address, the coordinator itself must answer.
  if (secure) arguments.SetSslTargetNameOverride(CertificateHost(coordinator_name));
  return arguments;
}

void QuietenGrpc() {
  if (std::getenv("GRPC_VERBOSITY") != nullptr) return;
  gpr_set_log_function([](gpr_log_func_args*) {});
  google::protobuf::SetLogHandler(nullptr);  // about texts that are not UTF-8, which are refused anyway
}

grpc::Status ToGrpc(const Status& status) {
  using Code = std::pair<StatusCode, grpc::StatusCode>;
  static constexpr Code kCodes[] = {{StatusCode::kOk, grpc::StatusCode::OK},
                                    {StatusCode::kInvalidArgument, grpc::StatusCode::INVALID_ARGUMENT},
                                    {StatusCode::kNotFound, grpc::StatusCode::NOT_FOUND},
                                    {StatusCode::kCorrupt, grpc::StatusCode::DATA_LOSS},
                                    {StatusCode::kResourceExhausted, grpc::StatusCode::RESOURCE_EXHAUSTED},
                                    {StatusCode::kUnavailable, grpc::StatusCode::UNAVAILABLE},
                                    {StatusCode::kCancelled, grpc::StatusCode::CANCELLED}};
  const auto* const found = std::ranges::find(kCodes, status.code(), &Code::first);
  return {found == std::end(kCodes) ? grpc::StatusCode::INTERNAL : found->second, status.message()};
}

Status FromGrpc(const grpc::Status& status) {
  const std::string message =
      status.error_message().empty() ? "the connection was closed" : status.error_message();
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
      return OkStatus();
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::PERMISSION_DENIED:
      return InvalidArgument(message);
    case grpc::StatusCode::DATA_LOSS:
      return Corrupt(message);
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return ResourceExhausted(message);
    case grpc::StatusCode::CANCELLED:
      return Cancelled(message);
    default:
      return Unavailable(message);
  }
}

std::shared_ptr<grpc::Channel> Dial(const std::string& address, const std::optional<Credentials>& credentials,
                                    const std::string& coordinator) {
  QuietenGrpc();
  return grpc::CreateCustomChannel(address, MakeChannelCredentials(credentials),
                                   ClientArguments(credentials.has_value(), coordinator));
}

std::shared_ptr<grpc::Channel> DialPeer(const std::string& address,
                                        const std::optional<Credentials>& credentials,
                                        const std::string& name) {
  constexpr int kTryForMs = 3'000;
  constexpr int kSoonestAgainMs = 1'000;
  constexpr int kLatestAgainMs = 30'000;
  QuietenGrpc();
  grpc::ChannelArguments arguments = ClientArguments(credentials.has_value(), name);
  arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, kTryForMs);
  arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, kSoonestAgainMs);
  arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, kLatestAgainMs);
  // An explicit scheme, so that no host is taken for one.
  return grpc::CreateCustomChannel("dns:///" + address, MakeChannelCredentials(credentials), arguments);
}

Status AwaitPeer(grpc::Channel& channel, const std::function<bool()>& stop) {
  constexpr auto kPatience = std::chrono::milliseconds(3'500);
  TRIBUTARY_ASSIGN_OR_RETURN(const bool connected, Connect(channel, kPatience, stop));
  if (connected) return OkStatus();
  return Unavailable("no trusted peer answers at this address");
}

Status AwaitConnection(grpc::Channel& channel, const std::string& address,
                       const std::function<bool()>& stop) {
  constexpr auto kPatience = std::chrono::seconds(10);
  TRIBUTARY_ASSIGN_OR_RETURN(const bool connected, Connect(channel, kPatience, stop));
  if (connected) return OkStatus();
  return Unavailable("no coordinator that can be trusted answers at " + address +
                     " (nothing listens there, the network is down, or the certificates do not fit)");
}

}  // namespace tributary::inline rpc
