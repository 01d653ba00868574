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

struct PeerServerOptions {
  PeerAddress advertise;  // where others reach it; of port 0, a free one is taken
  std::string
      listen;  // HOST:PORT; empty: the advertised port of this machine, or of its loopback if that is advertised
  std::optional<Credentials> credentials;  // without them, any client may claim to be a neighbour
};

// Serves what a device offers (offer_book.h) to those it meets: the Peers service. The book must outlive it.
//
// Somebody who asks holds one call at a time, and there is a bound on all calls. A call that asks for what is not to be
// had, in a name that is not a neighbour's or with another certificate, ends with the reason and disturbs nobody.
class PeerServer {
 public:
  static StatusOr<std::unique_ptr<PeerServer>> Start(PeerServerOptions options, OfferBook& book);
  ~PeerServer();
  PeerServer(const PeerServer&) = delete;
  PeerServer& operator=(const PeerServer&) = delete;

  // HOST:PORT to tell others.
  std::string address() const;

 private:
  class Service;
  struct State;
  explicit PeerServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary::inline rpc
