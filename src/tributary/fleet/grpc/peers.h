#pragma once

#include <grpcpp/channel.h>

#include <map>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>

#include "tributary/base/mutex.h"
#include "tributary/base/status.h"
#include "tributary/fleet/grpc/peer_address.h"
#include "tributary/fleet/messages.h"
#include "tributary/fleet/offer_book.h"
#include "tributary/fleet/protocol/peer_meeting.h"
#include "tributary/keys/live_credentials.h"
#include "tributary/keys/revocation_list.h"

namespace tributary::inline rpc {

// Fetches neighbours' models (Peers.Fetch). Keeps a limited number of connections. Thread-safe.
class PeerClient {
 public:
  // `name`: own name, if there are no credentials. `revoked`, if not null, must outlive it.
  PeerClient(std::optional<Credentials> credentials, std::string name,
             const RevocationList* revoked = nullptr)
      : name_(std::move(name)), revoked_(revoked) {
    if (credentials) credentials_.emplace(*std::move(credentials));
  }

  // Fetches a neighbour's whole model of a meeting; waits until it is ready. With TLS, fails unless the
  // certificate is the one that the coordinator has named, and not revoked. Fails within seconds without an answer.
  Status Fetch(std::uint64_t meeting, const MeetingPeer& peer, IncomingModel& model,
               const std::stop_token& stop);

 private:
  using Place = std::pair<std::string, std::string>;  // name and address
  std::shared_ptr<grpc::Channel> ChannelTo(const MeetingPeer& peer);

  std::optional<LiveCredentials> credentials_;
  const std::string name_;
  const RevocationList* const revoked_;
  Mutex mutex_;
  std::uint64_t version_ TRIBUTARY_GUARDED_BY(mutex_) = 0;  // of the credentials of the channels
  std::map<Place, std::shared_ptr<grpc::Channel>> channels_ TRIBUTARY_GUARDED_BY(mutex_);
};

struct PeerServerOptions {
  PeerAddress advertise;  // where others reach it; port 0 is replaced by a free one
  std::string listen;     // HOST:PORT; empty: the advertised port, on loopback if `advertise` is loopback
  std::optional<Credentials> credentials;   // without them, any client may claim to be a neighbour
  const RevocationList* revoked = nullptr;  // must outlive the server
};

// The Peers service: serves a device's offers (offer_book.h) to its neighbours. The book must outlive it.
//
// Each client has at most one call at a time, and the total is limited. A call for something unavailable, or
// with a name or certificate that is not a neighbour's, ends with a reason and does not disturb others.
class PeerServer {
 public:
  static StatusOr<std::unique_ptr<PeerServer>> Start(PeerServerOptions options, OfferBook& book);
  ~PeerServer();

  // HOST:PORT for other devices.
  std::string address() const;

 private:
  class Service;
  struct State;
  explicit PeerServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary::inline rpc
