#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/protocol/exchange.h"
#include "tributary/keys/credentials.h"
#include "tributary/keys/party_name.h"

namespace tributary::inline rpc {

struct WatchedDevice {
  DeviceProfile profile;
  std::string name;
  std::string state;       // waiting, pulling, computing, pushing, preparing, gone
  Duration state_time{0};  // time in this state
  std::string address;
  std::string advertised;  // where other devices reach it; empty if they cannot
  std::string build;
  std::uint32_t threads = 0;
  std::uint64_t applied = 0;
  std::uint64_t missed = 0;
  // Its transfer plan; 0 before the first plan.
  std::uint32_t pull_segments = 0, push_segments = 0;
  Duration planned{0};
  std::uint64_t replanned = 0;
  // For a device with a stream: its rate, 0 if unknown, and its buffered samples.
  bool streams = false;
  double samples_per_second = 0;
  std::uint64_t buffered = 0;
};

struct WatchedFleet {
  std::string experiment;
  std::uint64_t round = 0;
  std::uint64_t rounds = 0;
  std::vector<WatchedDevice> devices;
};

// The state of a coordinator's fleet. With TLS, the certificate needs the right to watch (role.h).
StatusOr<WatchedFleet> WatchFleet(const std::string& address, const std::optional<Credentials>& credentials,
                                  const std::string& coordinator = std::string(kCoordinatorName));

// Asks a coordinator to change its run. Needs an operator's certificate.
Status OperateFleet(const std::string& address, const std::optional<Credentials>& credentials,
                    const OperatorRequest& request,
                    const std::string& coordinator = std::string(kCoordinatorName));

}  // namespace tributary::inline rpc
