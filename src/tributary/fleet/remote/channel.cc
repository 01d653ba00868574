#include "tributary/fleet/remote/channel.h"

#include <grpcpp/create_channel.h>

#include "tributary/fleet/remote/credentials.h"
#include "tributary/fleet/remote/grpc_settings.h"

namespace tributary::remote {

namespace {

// Whether a connection was made, after so many looks at most.
StatusOr<bool> Connect(grpc::Channel& channel, int looks, const std::function<bool()>& stop) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  grpc_connectivity_state state = channel.GetState(/*try_to_connect=*/true);
  for (int i = 0; i < looks; ++i) {
    if (state == GRPC_CHANNEL_READY) return true;
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) break;
    if (stop && stop()) return Cancelled("stopped while dialling");
    channel.WaitForStateChange(state, std::chrono::system_clock::now() + kBetweenLooks);
    state = channel.GetState(false);
  }
  return false;
}

}  // namespace

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
  // The scheme is said, so that no host can be taken for one.
  return grpc::CreateCustomChannel("dns:///" + address, MakeChannelCredentials(credentials), arguments);
}

Status AwaitPeer(grpc::Channel& channel, const std::function<bool()>& stop) {
  constexpr int kLooks = 70;
  TRIBUTARY_ASSIGN_OR_RETURN(const bool connected, Connect(channel, kLooks, stop));
  if (connected) return OkStatus();
  return Unavailable("nobody that can be trusted answers there");
}

Status AwaitConnection(grpc::Channel& channel, const std::string& address,
                       const std::function<bool()>& stop) {
  constexpr int kLooks = 200;
  TRIBUTARY_ASSIGN_OR_RETURN(const bool connected, Connect(channel, kLooks, stop));
  if (connected) return OkStatus();
  return Unavailable("no coordinator that can be trusted answers at " + address +
                     " (nothing listens there, the network is down, or the certificates do not fit)");
}

}  // namespace tributary::remote
