#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/fleet/device_work.h"
#include "tributary/fleet/grpc/peer_client.h"
#include "tributary/fleet/protocol/link_rate.h"

namespace grpc {
class Channel;
}

namespace tributary::inline rpc {

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

}  // namespace tributary::inline rpc
