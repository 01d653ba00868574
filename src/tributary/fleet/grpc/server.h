#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "tributary/base/wall_clock.h"
#include "tributary/fleet/protocol/exchange.h"
#include "tributary/keys/credentials.h"

namespace tributary::inline rpc {

struct ServerOptions {
  std::string listen = "127.0.0.1:0";        // HOST:PORT; port 0 chooses a free one
  std::optional<Credentials> credentials;    // without them anyone may join: for trusted networks only
  std::filesystem::path revoked;             // the authority's revocation list; empty for none
  std::filesystem::path revoked_newest;      // file for the newest list ever accepted; empty for none
  WallClock wall_clock = SystemWallClock();  // for the expiry of certificates and of the list
  // For Watch.
  std::string experiment;
  std::uint64_t rounds = 0;
};

// The gRPC transport of an Exchange: one stream per device. The Exchange must outlive it.
class GrpcServer {
 public:
  static StatusOr<std::unique_ptr<GrpcServer>> Start(ServerOptions options, Exchange& exchange);
  // Ends all connections. Call Exchange::SayFarewell before if devices should be told.
  ~GrpcServer();

  int port() const;
  void set_round(std::uint64_t round);

 private:
  class Service;
  struct State;
  explicit GrpcServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary::inline rpc
