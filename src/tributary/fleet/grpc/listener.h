#pragma once

#include <grpcpp/server_builder.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "tributary/base/mutex.h"
#include "tributary/base/status.h"

namespace tributary::inline rpc {

// Accepts connections for a gRPC server that does not listen itself. gRPC 1.51 stops listening for ever when
// the process runs out of descriptors (CVE-2023-4785); this class prevents that, and would recover from it.
//
// The limit on descriptors is raised as far as the system allows; at most half are for connections. A
// connection is unproven until its peer is authenticated. Unproven connections are limited in total and per
// address; excess ones are closed before any handshake. So a host without keys only blocks its own address.
//
//   1. Bind, 2. Start, 3. Stop, before the server is shut down.
class Listener {
 public:
  struct Limits {
    std::size_t connections;
    std::size_t unproven;
    std::size_t unproven_per_address;
  };

  // `address` is HOST:PORT; port 0 chooses a free one. InvalidArgument if the address cannot be used.
  static StatusOr<std::unique_ptr<Listener>> Bind(const std::string& address);
  ~Listener();

  using NewConnection = grpc::experimental::ExternalConnectionAcceptor::NewConnectionParameters;
  // `take` receives each connection, on the listener's thread, and hands it over to gRPC.
  void Start(std::function<void(NewConnection&)> take);
  // Stops accepting; call it before the server is shut down.
  void Stop();
  int port() const { return port_; }
  // The peer of this name (grpc::ServerContext::peer) is authenticated. Thread-safe.
  void Prove(const std::string& peer);

 private:
  // A connection owned by gRPC. It has ended if its descriptor is closed or refers to another file.
  struct Connection {
    int descriptor;
    std::uint64_t inode;
    std::string host;
    bool proven = false;
  };

  Listener() = default;
  void Run();
  void AcceptFrom(int listening);
  bool MayCome(const std::string& host) TRIBUTARY_REQUIRES(mutex_);
  void ForgetClosed() TRIBUTARY_REQUIRES(mutex_);
  // Removes it from the unproven ones, if it is one.
  void Forget(const Connection& connection) TRIBUTARY_REQUIRES(mutex_);
  void Refuse(int descriptor, const std::string& host) TRIBUTARY_REQUIRES(mutex_);

  std::vector<int> listening_;
  int wake_[2] = {-1, -1};  // a pipe; Run returns when one end is closed
  int port_ = 0;
  Limits limits_{};
  std::function<void(NewConnection&)> take_;
  std::thread thread_;
  std::uint64_t refused_ = 0;  // since the last warning
  std::chrono::steady_clock::time_point said_{}, looked_{};

  Mutex mutex_;
  std::map<std::string, Connection> connections_ TRIBUTARY_GUARDED_BY(mutex_);  // by host and port
  std::map<std::string, std::size_t> unproven_ TRIBUTARY_GUARDED_BY(mutex_);    // by host
  std::size_t unproven_in_all_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
};

}  // namespace tributary::inline rpc
