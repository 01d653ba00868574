#include "tributary/fleet/grpc/grpc_settings.h"

#include <google/protobuf/stubs/logging.h>
#include <grpc/support/log.h>
#include <grpcpp/resource_quota.h>

#include <cstdlib>

#include "tributary/fleet/messages.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline rpc {
namespace {

// A peer that answers nothing for so long is gone: its machine, its process or the network in between.
constexpr int kPingAfterMs = 5'000;
constexpr int kPingTimeoutMs = 5'000;
// What one stream may hold unread, times the number of devices, is the coordinator's memory.
constexpr int kReadAheadBytes = 256 << 10;

}  // namespace

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
  builder.AddChannelArgument(GRPC_ARG_MAX_CONCURRENT_STREAMS, 8);  // of one connection
  builder.AddChannelArgument("grpc.server_handshake_timeout_ms", 10'000);
  builder.AddChannelArgument(GRPC_ARG_MAX_CONNECTION_IDLE_MS,
                             30'000);  // A connection without a call is of no use.
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
  // Every session dials for itself, so that one broken connection is one device's.
  arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
  arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
  // Whatever the address, it must be the coordinator who answers there.
  if (secure) arguments.SetSslTargetNameOverride(CertificateHost(coordinator_name));
  return arguments;
}

void QuietenGrpc() {
  if (std::getenv("GRPC_VERBOSITY") != nullptr) return;
  gpr_set_log_function([](gpr_log_func_args*) {});
  google::protobuf::SetLogHandler(
      nullptr);  // It complains of texts that are no UTF-8, which are refused anyway.
}

grpc::Status ToGrpc(const Status& status) {
  grpc::StatusCode code = grpc::StatusCode::INTERNAL;
  switch (status.code()) {
    case StatusCode::kOk:
      return grpc::Status::OK;
    case StatusCode::kInvalidArgument:
      code = grpc::StatusCode::INVALID_ARGUMENT;
      break;
    case StatusCode::kNotFound:
      code = grpc::StatusCode::NOT_FOUND;
      break;
    case StatusCode::kCorrupt:
      code = grpc::StatusCode::DATA_LOSS;
      break;
    case StatusCode::kResourceExhausted:
      code = grpc::StatusCode::RESOURCE_EXHAUSTED;
      break;
    case StatusCode::kUnavailable:
      code = grpc::StatusCode::UNAVAILABLE;
      break;
    case StatusCode::kCancelled:
      code = grpc::StatusCode::CANCELLED;
      break;
    case StatusCode::kIoError:
      code = grpc::StatusCode::INTERNAL;
      break;
  }
  return {code, status.message()};
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

}  // namespace tributary::inline rpc
