#pragma once

#include <string>
#include <string_view>

#include "tributary/base/loopback.h"
#include "tributary/base/status.h"

namespace tributary::inline rpc {

// Where other devices reach a device. Devices dial it as received, so schemes and paths are not allowed.
struct PeerAddress {
  std::string host;  // a name or an address, IPv6 without brackets
  int port = 0;      // 0 to 65535

  bool loopback() const { return IsLoopback(host); }
};

// HOST:PORT, with brackets around a HOST that contains colons.
StatusOr<PeerAddress> ParsePeerAddress(std::string_view text);
std::string Format(const PeerAddress& address);

}  // namespace tributary::inline rpc
