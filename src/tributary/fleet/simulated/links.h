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

// How a message of `payload` bytes that stands for the whole buffer is split over the servers. It is spread evenly over the
// buffer: plain parameters go byte by byte to where they belong, and what was compressed or thinned goes in proportion. The
// parts add up to `payload` exactly; empty ones are left out. The servers hold consecutive ranges from byte 0 on. Of an empty
// buffer, everything goes to the first server.
std::vector<TransferPart> SplitOverServers(std::span<const ServerShard> servers, Bytes payload);

using TransferId = Id<struct TransferTag>;
using DeviceLinkId = Id<struct DeviceLinkTag>;

enum class Direction { kUp, kDown };  // From the device to the servers; from the servers to the device.

struct Completion {
  TimePoint time;
  TransferId transfer;

  friend auto operator<=>(const Completion&, const Completion&) = default;
};

// When transfers between devices and servers end, if links are shared fairly.
//
// A transfer has a part for each server that holds some of its bytes, all under way at once, and is complete when all
// its parts are. Bytes flow like water: a device's link in one direction is divided equally among the device's parts
// in progress in that direction, which caps each; every server's link in that direction is shared max-min fairly
// among the parts on it under those caps (fair_share.h). Rates change the moment any part starts, ends or is
// cancelled. What a device cannot use of its share at a busy server is not passed on to its parts at other servers.
//
// Use: Start() transfers as time goes on, and AdvanceTo() every moment that NextChange() names (or any other: looking
// more often changes no result by a bit). `now` never decreases.
//
// Times are exact to double precision inside and rounded to the nearest nanosecond when reported; parts that end
// follow one another at their unrounded times, so rounding does not add up, and every byte is moved exactly once. A
// start or cancellation at a reported time takes effect up to half a nanosecond off. Completions of the same reported
// time are in the order in which the transfers were started.
//
// For one thread. The cost is O(log transfers) per start and end of a part, plus a look at every server.
class SharedLinks {
 public:
  explicit SharedLinks(std::span<const ServerRates> servers);

  // Rates are positive, and may be unlimited.
  DeviceLinkId AddDevice(BitsPerSecond up, BitsPerSecond down);

  // Parts name different servers. Without any bytes the transfer is complete at once. Identities count up from 0.
  TransferId Start(TimePoint now, DeviceLinkId device, Direction direction,
                   std::span<const TransferPart> parts);

  // When the next part ends, or something waits to be reported; nothing when no transfer in progress ever ends within
  // the clock's range. Not every change completes a transfer.
  std::optional<TimePoint> NextChange() const;

  // What has completed up to and including `now` and was not reported before.
  std::vector<Completion> AdvanceTo(TimePoint now);

  // Breaks a transfer off, and tells how many bytes it had moved in all, each part's to the nearest byte. Nothing when
  // it was complete by then: AdvanceTo() reports that, or has done so.
  std::optional<Bytes> Cancel(TimePoint now, TransferId transfer);

 private:
  struct Flow {
    TransferId transfer;
    std::size_t device = 0;  // Index in devices_.
    std::size_t server = 0;
    Direction direction = Direction::kUp;
    Bytes bytes{0};
    FairShare::Ticket ticket;
  };
  struct DeviceLink {
    std::array<double, 2> bytes_per_second;           // By direction.
    std::array<std::vector<std::uint32_t>, 2> flows;  // In progress.
  };
  struct Transfer {
    std::vector<std::uint32_t> flows;  // In progress.
    Bytes moved{0};                    // By parts that have ended.
  };

  double Seconds(TimePoint time) const;
  TimePoint Rounded(double seconds) const;
  FairShare& ShareOf(const Flow& flow);
  void Settle(TimePoint now);
  double EndFlow(double seconds, std::uint32_t flow);
  void DivideAmongFlows(double seconds, DeviceLink& device, Direction direction);
  std::uint32_t TakeFlow();

  // Seconds are counted from the start of the busy period, so that they stay small and precise.
  TimePoint epoch_{0};
  TimePoint settled_{0};
  std::deque<FairShare> shares_;  // Up and down of server 0, up and down of server 1, …
  std::vector<DeviceLink> devices_;
  std::vector<Flow> flows_;
  std::vector<std::uint32_t> free_flows_;
  std::unordered_map<std::uint64_t, Transfer> transfers_;
  std::vector<Completion> unreported_;
  std::uint64_t started_ = 0;
};

}  // namespace tributary::inline simulated
