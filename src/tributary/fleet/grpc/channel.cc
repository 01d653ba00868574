#include "tributary/fleet/grpc/channel.h"

#include <grpcpp/create_channel.h>

#include <algorithm>
#include <chrono>

#include "tributary/fleet/grpc/credentials.h"
#include "tributary/fleet/grpc/grpc_settings.h"

namespace tributary::inline rpc {

namespace {

using std::chrono::system_clock;

// Whether a connection was made, within so long. gRPC announces changes; `stop` is a flag that has to be looked at.
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
