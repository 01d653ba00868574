#pragma once

#include <memory>
#include <optional>
#include <string>

#include "tributary/base/status.h"
#include "tributary/fleet/grpc/peer_address.h"
#include "tributary/fleet/offer_book.h"
#include "tributary/keys/credentials.h"

namespace tributary::inline rpc {

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
