#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/fleet/grpc/grpc_settings.h"
#include "tributary/fleet/grpc/listener.h"
#include "tributary/keys/live_credentials.h"

namespace grpc {
class Server;
class Service;
}  // namespace grpc

namespace tributary::inline rpc {

// A gRPC server with mutual TLS whose credentials may change while it runs: connections made before a change stay as
// they are, later ones are made with the new credentials. (gRPC's own servers keep theirs, so this class starts one
// more with each change; all live until the end.)
class SecureServer {
 public:
  // Called for each gRPC server; all services share the state behind them.
  using MakeService = std::function<std::unique_ptr<grpc::Service>()>;

  // Listens on HOST:PORT; port 0 chooses a free one. Without `credentials`, which must outlive the server, there is no
  // TLS. InvalidArgument if the address cannot be used.
  static StatusOr<std::unique_ptr<SecureServer>> Make(const std::string& address,
                                                      LiveCredentials* credentials, int largest_message,
                                                      MakeService make);
  // Calls Stop.
  ~SecureServer();

  // Begins to accept connections.
  Status Start();
  // Accepts no more connections.
  void StopListening() { listener_->Stop(); }
  // Ends all calls, within a second.
  void Stop();

  int port() const { return listener_->port(); }
  // Listener::Prove.
  StatusOr<std::shared_ptr<Listener::Traffic>> Prove(const std::string& peer, const std::string& name) {
    return listener_->Prove(peer, name);
  }

 private:
  struct Generation;

  SecureServer(LiveCredentials* credentials, int largest_message, MakeService make);
  Status Open();
  void Take(Listener::NewConnection& connection);

  const GrpcLife life_;  // First: destroyed last.
  LiveCredentials* const credentials_;
  const int largest_message_;
  const MakeService make_;
  std::unique_ptr<Listener> listener_;
  std::vector<std::unique_ptr<Generation>> generations_;  // of the listener's thread once it runs
  std::uint64_t version_ = 0;                             // of the last one's credentials
  std::string complaint_;
};

}  // namespace tributary::inline rpc
