#pragma once

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "tributary/base/units.h"

namespace tributary::inline simulated {

inline constexpr BitsPerSecond kUnlimited{std::numeric_limits<double>::infinity()};

// What a server's link carries in all, for the transfers in progress to share. Positive; may be unlimited.
struct ServerRates {
  BitsPerSecond up = kUnlimited;    // From devices to the server.
  BitsPerSecond down = kUnlimited;  // From the server to devices.
};

// A parameter shard: a server that holds bytes [begin, end) of the flat parameter buffer.
struct ServerShard {
  ServerRates rates;
  Bytes begin{0};
  Bytes end{0};
};

// Some bytes to or from one server, by its position in the list of servers.
struct TransferPart {
  std::size_t server = 0;
  Bytes bytes{0};
};

// `count` servers of equal rates that hold a buffer in equal shares (to a byte).
std::vector<ServerShard> MakeEvenServers(std::size_t count, Bytes buffer, ServerRates rates);

// How a message of `payload` bytes that stands for bytes [begin, end) of the buffer is split over the servers that
// hold them. It is spread evenly over that range: plain parameters go byte by byte to where they belong, and what was
// compressed or thinned goes in proportion. The parts add up to `payload` exactly; empty ones are left out. The servers
// hold consecutive ranges from byte 0 on, and the range must lie within them and not be empty, unless there is
// nothing to send.
std::vector<TransferPart> SplitOverServers(std::span<const ServerShard> servers, Bytes begin, Bytes end,
                                           Bytes payload);

// The same for the whole buffer. Of an empty buffer, everything goes to the first server.
std::vector<TransferPart> SplitOverServers(std::span<const ServerShard> servers, Bytes payload);

}  // namespace tributary::inline simulated
