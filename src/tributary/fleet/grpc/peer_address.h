#pragma once

#include <string>
#include <string_view>

#include "tributary/base/loopback.h"
#include "tributary/base/status.h"

namespace tributary::inline rpc {

// Where a device can be reached by others. It is told to devices that dial it, so nothing else that a dialler might
// understand (schemes, paths) is one.
struct PeerAddress {
  std::string host;  // a name or an address, of IPv6 without brackets
  int port = 0;      // 0 to 65535

  bool loopback() const { return IsLoopback(host); }
};

// HOST:PORT, where a HOST with colons is in brackets.
StatusOr<PeerAddress> ParsePeerAddress(std::string_view text);
std::string Format(const PeerAddress& address);

}  // namespace tributary::inline rpc
