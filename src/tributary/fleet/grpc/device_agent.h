#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/fleet/device_work.h"
#include "tributary/fleet/grpc/peer_address.h"
#include "tributary/fleet/protocol/link.h"
#include "tributary/keys/credentials.h"
#include "tributary/keys/party_name.h"
#include "tributary/keys/revocation_list.h"

namespace grpc {
class Channel;
}

namespace tributary::inline rpc {

class PeerClient;

struct SessionOptions {
  std::string name;
  std::string build;
  bool once = false;  // leave after one round of training
  std::optional<LinkRate> link_rate;
  std::string advertised;       // HOST:PORT where other devices reach this one's offers; empty if they cannot
  PeerClient* peers = nullptr;  // dials other devices; if null, the coordinator relays their models
  bool authenticated = false;   // with TLS: the peer must have a coordinator's certificate
  RevocationList* revoked =
      nullptr;                 // the coordinator must send lists that it accepts; null: they are ignored
  std::function<bool()> stop;  // polled a few times a second
  std::function<void(const std::string&)> say = [](const std::string&) {};  // for people
};

struct SessionEnd {
  bool joined = false;    // it was ready for work
  bool finished = false;  // the run is over
  bool stopped = false;   // by `stop`, or after the round of `once`
  Status reason;          // why it ended, if for none of the above
};

// Runs one connection of a device from the greeting to its end, on the calling thread.
SessionEnd RunSession(const std::shared_ptr<grpc::Channel>& channel, const SessionOptions& options,
                      DeviceWork& work, const Clock& clock);

struct AgentOptions {
  std::string join;                        // HOST:PORT of the coordinator
  std::optional<Credentials> credentials;  // without them, neither side is authenticated
  std::filesystem::path revoked;           // file for the newest revocation list; empty for none
  std::string coordinator = std::string(kCoordinatorName);  // expected name of the coordinator
  std::string name;                                         // own name, if there are no credentials
  std::string build;
  bool once = false;             // leave after one round, or after a minute without an answer
  bool leave_when_done = false;  // leave when the run is over; otherwise wait for the next run
  Duration longest_wait = std::chrono::seconds(30);  // between two attempts
  std::uint64_t seed = 1;                            // of the jitter; different on every device
  std::optional<LinkRate> link_rate;
  std::optional<PeerAddress> advertise;  // where other devices reach this one; empty if they cannot
  std::string listen;                    // where it listens for them (peers.h)
  std::function<bool()> stop;
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

// Runs a device: connects to the coordinator, takes part, and reconnects when the connection breaks. Returns
// when stopped, or as `once` and `leave_when_done` say; an error only with `once`, or if it cannot listen.
Status RunDevice(const AgentOptions& options, DeviceWork& work);

}  // namespace tributary::inline rpc
