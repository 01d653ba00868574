#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/units.h"
#include "tributary/fleet/simulated/fair_share.h"

namespace tributary::inline simulated {

inline constexpr BitsPerSecond kUnlimited{std::numeric_limits<double>::infinity()};

// Total rates of a server's link, shared by the transfers in progress. Positive; may be unlimited.
struct ServerRates {
  BitsPerSecond up = kUnlimited;    // from devices to the server
  BitsPerSecond down = kUnlimited;  // from the server to devices
};

// A parameter shard: a server with bytes [begin, end) of the flat parameter buffer.
struct ServerShard {
  ServerRates rates;
  Bytes begin{0};
  Bytes end{0};
};

// Bytes to or from the server with this index.
struct TransferPart {
  std::size_t server = 0;
  Bytes bytes{0};
};

// `count` servers with equal rates and equal shares (to a byte) of a buffer.
std::vector<ServerShard> MakeEvenServers(std::size_t count, Bytes buffer, ServerRates rates);

// Divides a message of `payload` bytes, which stands for the whole buffer, over the servers. The payload is
// spread evenly over the buffer: plain parameters go to their servers, compressed ones in proportion. The
// parts add up to `payload` exactly, without empty parts. Servers hold consecutive ranges from byte 0 on. If
// the buffer is empty, everything goes to the first server.
std::vector<TransferPart> SplitOverServers(std::span<const ServerShard> servers, Bytes payload);

using TransferId = Id<struct TransferTag>;
using DeviceLinkId = Id<struct DeviceLinkTag>;

enum class Direction { kUp, kDown };  // device to servers; servers to device

struct Completion {
  TimePoint time;
  TransferId transfer;
  friend auto operator<=>(const Completion&, const Completion&) = default;
};

// Completion times of transfers between devices and servers over fairly shared links.
//
// A transfer has a part for each server with some of its bytes; parts run concurrently, and the transfer is
// complete when all are. Fluid model: a device's link in one direction is divided equally among the device's
// active parts in that direction, which caps each; every server's link is shared max-min fairly among its
// parts under those caps (fair_share.h). Rates change whenever a part starts, ends or is cancelled. Capacity
// that a device cannot use at a busy server is not passed on to its parts at other servers.
//
// Use: Start() transfers as time goes on, and call AdvanceTo() at least at every time that NextChange()
// names; more calls do not change results by a bit. `now` never decreases.
//
// Times are exact to double precision inside and rounded to the nearest nanosecond when reported. Parts
// follow one another at their unrounded times, so rounding does not add up, and every byte is moved exactly
// once. A start or cancellation at a reported time takes effect up to half a nanosecond off. Completions with
// equal reported times are in the order in which the transfers were started.
//
// Not thread-safe. Start and end of a part cost O(log transfers), plus a look at every server.
class SharedLinks {
 public:
  explicit SharedLinks(std::span<const ServerRates> servers);

  // Rates are positive, and may be unlimited.
  DeviceLinkId AddDevice(BitsPerSecond up, BitsPerSecond down);

  // Parts name different servers. A transfer without bytes is complete at once. Ids count up from 0.
  TransferId Start(TimePoint now, DeviceLinkId device, Direction direction,
                   std::span<const TransferPart> parts);

  // When the next part ends or something can be reported; nothing if no active transfer ends within the
  // clock's range. Not every change completes a transfer.
  std::optional<TimePoint> NextChange() const;

  // The completions up to and including `now` that were not reported before.
  std::vector<Completion> AdvanceTo(TimePoint now);

  // Cancels a transfer and returns its moved bytes, to the nearest byte per part. Nothing if it was complete.
  std::optional<Bytes> Cancel(TimePoint now, TransferId transfer);

 private:
  struct Flow {
    TransferId transfer;
    std::size_t device = 0;  // index in devices_
    std::size_t server = 0;
    Direction direction = Direction::kUp;
    Bytes bytes{0};
    FairShare::Ticket ticket;
  };
  struct DeviceLink {
    std::array<double, 2> bytes_per_second;           // by direction
    std::array<std::vector<std::uint32_t>, 2> flows;  // active flows
  };
  struct Transfer {
    std::vector<std::uint32_t> flows;  // active flows
    Bytes moved{0};                    // by finished parts
  };

  double Seconds(TimePoint time) const;
  TimePoint Rounded(double seconds) const;
  FairShare& ShareOf(const Flow& flow);
  void Settle(TimePoint now);
  double EndFlow(double seconds, std::uint32_t flow);
  void DivideAmongFlows(double seconds, DeviceLink& device, Direction direction);
  std::uint32_t TakeFlow();

  // Seconds count from the start of the busy period, so they stay small and precise.
  TimePoint epoch_{0};
  TimePoint settled_{0};
  std::deque<FairShare> shares_;  // up and down of server 0, up and down of server 1, …
  std::vector<DeviceLink> devices_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_flows_;
  std::unordered_map<std::uint64_t, Transfer> transfers_;
  std::vector<Completion> unreported_;
  std::uint64_t started_ = 0;
};

}  // namespace tributary::inline simulated
