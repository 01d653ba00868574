#pragma once

#include <cstdint>
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
  std::string advertised;  // HOST:PORT where other devices reach what this one offers; empty if they cannot
  PeerClient* peers = nullptr;  // to dial others with; without it their models come by way of the coordinator
  std::function<bool()> stop;   // asked a few times a second
  std::function<void(const std::string&)> say = [](const std::string&) {};  // for people
};

struct SessionEnd {
  bool joined = false;    // it was ready for work
  bool finished = false;  // the run is over
  bool stopped = false;   // by `stop`, or after the one round
  Status reason;          // why it ended, if for no reason above
};

// One connection of a device, from greeting to its end; the calling thread does the work.
SessionEnd RunSession(const std::shared_ptr<grpc::Channel>& channel, const SessionOptions& options,
                      DeviceWork& work, const Clock& clock);

struct AgentOptions {
  std::string join;                        // HOST:PORT of the coordinator
  std::optional<Credentials> credentials;  // without them neither side knows whom it talks to
  std::string coordinator = std::string(kCoordinatorName);  // who must answer there
  std::string name;                                         // who this is, where there are no credentials
  std::string build;
  bool once = false;             // one round, then leave; give up without an answer within a minute
  bool leave_when_done = false;  // leave when the run is over; otherwise wait for the next
  Duration longest_wait = std::chrono::seconds(30);  // between two attempts
  std::uint64_t seed = 1;                            // of the jitter; different on every device
  std::optional<LinkRate> link_rate;
  std::optional<PeerAddress> advertise;  // where other devices reach this one; without it they do not
  std::string listen;                    // where it listens for them (peers.h)
  std::function<bool()> stop;
  std::function<void(const std::string&)> say = [](const std::string&) {};
};

// A device's life: it dials the coordinator, takes part for as long as the connection holds, and dials again when it
// breaks, for ever. Returns when told to stop, or after what `once` and `leave_when_done` say; an error only with
// `once`, or if it cannot listen where it should.
Status RunDevice(const AgentOptions& options, DeviceWork& work);

}  // namespace tributary::inline rpc
