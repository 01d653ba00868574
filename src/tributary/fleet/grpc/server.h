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
  std::string listen = "127.0.0.1:0";  // HOST:PORT; port 0 takes a free one
  std::optional<Credentials>
      credentials;                // without them anybody may join: for loopback and trusted networks only
  std::filesystem::path revoked;  // the authority's revocation list; empty for none
  std::filesystem::path revoked_newest;  // the newest list ever accepted (revocation_list.h); empty for none
  WallClock wall_clock = SystemWallClock();  // for the end of certificates and of the list
  // For Watch.
  std::string experiment;
  std::uint64_t rounds = 0;
};

// Carries an Exchange over gRPC: one stream per device. The Exchange must outlive it.
class GrpcServer {
 public:
  static StatusOr<std::unique_ptr<GrpcServer>> Start(ServerOptions options, Exchange& exchange);
  // Ends every connection; the devices have been told before if they should be (Exchange::SayFarewell).
  ~GrpcServer();
  GrpcServer(const GrpcServer&) = delete;
  GrpcServer& operator=(const GrpcServer&) = delete;

  int port() const;
  void set_round(std::uint64_t round);

 private:
  class Service;
  struct State;
  explicit GrpcServer(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace tributary::inline rpc
