#pragma once

#include <grpcpp/channel.h>

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "tributary/base/mutex.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/protocol/incoming_model.h"
#include "tributary/keys/credentials.h"

namespace tributary::inline rpc {

// Dials neighbours and fetches what they offer (Peers.Fetch). Connections are kept from meeting to meeting, up to some
// number. From any thread.
class PeerClient {
 public:
  // `name` is who this is, where there are no credentials.
  PeerClient(std::optional<Credentials> credentials, std::string name)
      : credentials_(std::move(credentials)), name_(std::move(name)) {}

  // All of the neighbour's model of that meeting; waits until it has made it. With TLS, only from the certificate that the
  // coordinator has named, or fails. Fails within seconds without an answer.
  Status Fetch(std::uint64_t meeting, const MeetingPeer& peer, IncomingModel& model,
               const std::stop_token& stop);

 private:
  using Place = std::pair<std::string, std::string>;  // name and address
  std::shared_ptr<grpc::Channel> ChannelTo(const MeetingPeer& peer);

  const std::optional<Credentials> credentials_;
  const std::string name_;
  Mutex mutex_;
  std::map<Place, std::shared_ptr<grpc::Channel>> channels_ TRIBUTARY_GUARDED_BY(mutex_);
};

}  // namespace tributary::inline rpc
