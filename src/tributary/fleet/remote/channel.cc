#include "tributary/fleet/remote/channel.h"

#include <grpcpp/create_channel.h>

#include "tributary/fleet/remote/credentials.h"
#include "tributary/fleet/remote/grpc_settings.h"

namespace tributary::remote {

std::shared_ptr<grpc::Channel> Dial(const std::string& address, const std::optional<Credentials>& credentials,
                                    const std::string& coordinator) {
  QuietenGrpc();
  return grpc::CreateCustomChannel(address, MakeChannelCredentials(credentials),
                                   ClientArguments(credentials.has_value(), coordinator));
}

Status AwaitConnection(grpc::Channel& channel, const std::string& address, const std::function<bool()>& stop) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  constexpr int kLooks = 200;
  grpc_connectivity_state state = channel.GetState(/*try_to_connect=*/true);
  for (int i = 0; i < kLooks; ++i) {
    if (state == GRPC_CHANNEL_READY) return OkStatus();
    if (state == GRPC_CHANNEL_TRANSIENT_FAILURE || state == GRPC_CHANNEL_SHUTDOWN) break;
    if (stop && stop()) return Cancelled("stopped while dialling");
    channel.WaitForStateChange(state, std::chrono::system_clock::now() + kBetweenLooks);
    state = channel.GetState(false);
  }
  return Unavailable("no coordinator that can be trusted answers at " + address +
                     " (nothing listens there, the network is down, or the certificates do not fit)");
}

}  // namespace tributary::remote
