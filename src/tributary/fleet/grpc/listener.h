#pragma once

#include <grpcpp/server_builder.h>

#include <atomic>
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
#include "tributary/fleet/grpc/excess_bytes.h"

namespace tributary::inline rpc {

// Accepts connections for a gRPC server that does not listen itself, and limits what peers can do before gRPC
// gives anything to the program. Debian 12's gRPC 1.51 needs this: it stops listening for ever when the process
// runs out of descriptors (CVE-2023-4785), and takes quadratic time for long headers (CVE-2023-33953).
//
// The limit on descriptors is raised as far as the system allows; at most half are for connections. A
// connection is unproven until its peer is authenticated. Unproven connections are limited in total and per
// address; excess ones are closed before any handshake. So a host without keys only blocks its own address.
// Proven connections are limited per name. A socket that stops listening is replaced.
//
// Bytes that arrive and belong to no message of the program (handshakes, headers, frames of any kind) are
// counted (excess_bytes.h). A connection with too many is broken off; if it is proven, so are all with its name,
// and the name is refused for a minute.
//
//   1. Bind, 2. Start, 3. Stop, before the server is shut down.
class Listener {
 public:
  struct Limits {
    std::size_t connections;
    std::size_t unproven;
    std::size_t unproven_per_address;
  };

  // What a proven connection has brought to the program. Thread-safe.
  class Traffic {
   public:
    // A whole message of so many bytes, besides its headers.
    void Took(std::size_t bytes) { bytes_ += static_cast<std::int64_t>(bytes) + kPerMessage; }
    // A call that a peer makes once per connection, so that calls that are reset at once are limited too.
    void TookRareCall() { bytes_ -= kPerRareCall; }

   private:
    friend class Listener;
    static constexpr std::int64_t kPerMessage = 512;  // headers of a call, frames and TLS records
    static constexpr std::int64_t kPerRareCall = 16 << 10;
    std::atomic<std::int64_t> bytes_ = 0;
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
  // The peer of this address (grpc::ServerContext::peer) is authenticated as `name`, which is empty without TLS. Fails if the name
  // is refused or has too many connections. Thread-safe.
  StatusOr<std::shared_ptr<Traffic>> Prove(const std::string& peer, const std::string& name);

 private:
  using Time = std::chrono::steady_clock::time_point;
  // A connection owned by gRPC. It has ended if its descriptor is closed or refers to another file.
  struct Connection {
    int descriptor;
    std::uint64_t inode;
    std::string host;
    std::string name = {};                  // once it is proven
    std::shared_ptr<Traffic> traffic = {};  // once it is proven
    ExcessBytes excess = {};
  };

  Listener() = default;
  void Run();
  void AcceptFrom(int listening);
  // Replaces a socket that has stopped listening.
  void Reopen(int& listening);
  bool MayCome(const std::string& host) TRIBUTARY_REQUIRES(mutex_);
  // Forgets connections that have ended, and breaks off those with too many excess bytes.
  void Inspect() TRIBUTARY_REQUIRES(mutex_);
  void BreakOff(const Connection& connection, std::int64_t excess) TRIBUTARY_REQUIRES(mutex_);
  // Removes it from the counts.
  void Forget(const Connection& connection) TRIBUTARY_REQUIRES(mutex_);
  void Refuse(int descriptor, const std::string& host) TRIBUTARY_REQUIRES(mutex_);

  std::vector<int> listening_;
  int wake_[2] = {-1, -1};  // a pipe; Run returns when one end is closed
  int port_ = 0;
  Limits limits_{};
  std::function<void(NewConnection&)> take_;
  std::thread thread_;
  std::uint64_t refused_ = 0;  // since the last warning
  Time said_{}, said_excess_{};

  Mutex mutex_;
  Time inspected_ TRIBUTARY_GUARDED_BY(mutex_){};
  std::map<std::string, Connection> connections_ TRIBUTARY_GUARDED_BY(mutex_);  // by host and port
  std::map<std::string, std::size_t> unproven_ TRIBUTARY_GUARDED_BY(mutex_);    // by host
  std::map<std::string, std::size_t> proven_ TRIBUTARY_GUARDED_BY(mutex_);      // by name
  std::map<std::string, Time> refused_until_ TRIBUTARY_GUARDED_BY(mutex_);      // by name
  // Of ended connections, by name.
  std::map<std::string, ExcessBytes> excess_before_ TRIBUTARY_GUARDED_BY(mutex_);
  std::size_t unproven_in_all_ TRIBUTARY_GUARDED_BY(mutex_) = 0;
};

}  // namespace tributary::inline rpc
