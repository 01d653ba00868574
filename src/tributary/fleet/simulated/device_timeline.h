#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/units.h"
#include "tributary/fleet/simulated/servers.h"

namespace tributary {

// What goes wrong with a device in one round.
struct NoFault {};
struct Absent {};  // Does not take part at all, and is known not to.
// Is gone from that moment on, in whatever it is doing; without effect when its update has arrived by then.
struct Vanishes {
  TimePoint at{0};
};
// Breaks off when this fraction of the update, in [0, 1], has been sent.
struct CrashesInUpload {
  double fraction = 0;
};
struct LosesUpdate {};  // Sends all of it, and the message never gets there.
using Fault = std::variant<NoFault, Absent, Vanishes, CrashesInUpload, LosesUpdate>;

// What one device does in a round, when everything is one message:
//
//   start ─ set-up, ½ round trip ─ pull ─ compute ─ set-up, ½ round trip ─ push ─ arrived
//
// Transfers may be cut into segments, each a message with its own set-up and half round trip, even if it has no bytes.
// Then there is a part of the computation for each: those of the pull's segments begin when their segment is there, in
// order; those of the push's segments follow, and a segment leaves when its part is done and the one before it has
// left. Segments are shared out over the servers in proportion to what they hold (SplitOverServers).
//
// Where the network is cut, crossings lie between the way forward and the way back: what the device has computed goes up in
// a message, the coordinator works on it (CutWork), and its reply comes down in another. Then the parts are those of the
// pull's segments, one between each two crossings, and those of the push's.
struct DeviceTask {
  DeviceId device;
  TimePoint start{0};  // When it is free to begin; not before the round.
  Duration setup{0};   // Per message.
  Duration round_trip{0};
  BitsPerSecond up = kUnlimited;
  BitsPerSecond down = kUnlimited;
  // In the order in which they go; at least one each.
  std::vector<Bytes> pull = {Bytes{0}};
  std::vector<Bytes> push = {Bytes{0}};
  struct Crossing {
    Bytes up, down;
  };
  std::vector<Crossing> crossings;
  // When this part of the work is done if it begins at this moment: not before it, and kNever when the device never gets
  // to the end of it. Called once for each part, in order; without it, computing takes no time.
  std::function<TimePoint(std::size_t part, TimePoint)> compute;
  Fault fault;
};

// The coordinator's work on what crosses a cut: one thing at a time, in the order of arrival.
struct CutWork {
  // Whether it replies to nobody before all have come who still can. With a deadline, those who have come by then are all,
  // if they are a quorum; and the round has as long again, without the others.
  bool waits = false;
  // For what one device has sent, and for all of it together where it waits.
  std::function<Duration(std::size_t task, int crossing)> each;
  std::function<Duration(std::span<const std::size_t> tasks, int crossing)> all;
};

enum class DeviceOutcome {
  kArrived,  // Its update is in the round.
  kLate,  // Its update came after the round's end and is discarded; or a cut was closed before it came there.
  kAbsent,    // Took no part.
  kVanished,  // Gone on the way.
  kCrashed,   // Broke off in its upload.
  kLost,      // Its update was sent and never came.
  kStuck,     // Neither done nor gone: its computation or transfer never ends.
};

struct Busy {
  TimePoint begin{0};
  TimePoint end{0};
  friend bool operator==(const Busy&, const Busy&) = default;
};

// Moments it did not get to are empty.
struct DeviceTimes {
  DeviceId device;
  DeviceOutcome outcome = DeviceOutcome::kStuck;
  std::optional<TimePoint> pull_begin;
  std::optional<TimePoint> pull_end;
  std::optional<TimePoint> compute_end;
  std::optional<TimePoint> push_begin;
  std::optional<TimePoint> push_end;  // All sent: also of a lost update.
  // Messages, from their set-up on, and parts of the work. What it broke off in ends there; never, for a stuck device.
  std::vector<Busy> pulls;
  std::vector<Busy> parts;
  std::vector<Busy> pushes;
  // What went over the cut, up and down: of each crossing as far as it came.
  std::vector<Busy> ups;
  std::vector<Busy> downs;
  std::size_t taken = 0;  // crossings whose batch is among those replied to
  // When it is over for the device: its update sent, or its failure. Never, for a stuck one.
  TimePoint settled{0};
  Bytes pulled{0};  // Moved, whether or not it was all.
  Bytes pushed{0};
  Bytes crossed_up{0};  // over the cut; what came down that way is in `pulled`

  friend bool operator==(const DeviceTimes&, const DeviceTimes&) = default;
};

enum class RoundEnd {
  kAllSettled,    // Nobody is left that could arrive.
  kDeadline,      // The deadline passed with the quorum there.
  kQuorum,        // The quorum was reached after the deadline.
  kQuorumMissed,  // Nothing more can happen, and the quorum is not there.
};

struct RoundTimes {
  TimePoint start{0};
  TimePoint end{0};
  RoundEnd why = RoundEnd::kAllSettled;
  std::size_t arrived = 0;
  std::vector<DeviceTimes> devices;  // In the order of the tasks.

  friend bool operator==(const RoundTimes&, const RoundTimes&) = default;
};

// Plays one round that begins at `start` on a virtual clock: deterministic, without threads, models or training.
//
// The round ends as soon as every device is settled: arrived, absent, or failed. The coordinator is no clairvoyant: it
// waits for a device that is going to vanish until it does, and for a lost update until it has been sent. With a
// deadline (counted from `start`) it ends then at the latest if `quorum` updates are there; if not, with the arrival of
// the one that makes the quorum. What arrives at the very moment of the end is in. A stuck device is waited for until
// the deadline, and where there is none, or the quorum cannot be had, until nothing else can happen.
//
// Late devices are played to their end, as a real one would go on until it is told: `settled` says when they are free
// again. Their traffic after the round's end is not felt by any other round.
RoundTimes SimulateRound(std::span<const ServerShard> servers, std::span<const DeviceTask> tasks,
                         TimePoint start, std::optional<Duration> deadline, std::size_t quorum,
                         const CutWork& cut = {});

}  // namespace tributary
