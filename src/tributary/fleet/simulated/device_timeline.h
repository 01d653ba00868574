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
// Breaks off when every server has got this fraction of its share of the update, in [0, 1].
struct CrashesInUpload {
  double fraction = 0;
};
struct LosesUpdate {};  // Sends all of it, and the message never gets there.
using Fault = std::variant<NoFault, Absent, Vanishes, CrashesInUpload, LosesUpdate>;

// What one device does in a round:
//
//   start ─ set-up, ½ round trip ─ pull ─ compute ─ set-up, ½ round trip ─ push ─ arrived
//
// A message of no bytes still costs its set-up and half round trip. The pull and the push are shared out over the
// servers in proportion to what they hold (SplitOverServers).
struct DeviceTask {
  DeviceId device;
  TimePoint start{0};  // When it is free to begin; not before the round.
  Duration setup{0};   // Per message.
  Duration round_trip{0};
  BitsPerSecond up = kUnlimited;
  BitsPerSecond down = kUnlimited;
  Bytes pull{0};
  Bytes push{0};
  // When the work is done that begins at this moment: not before it, and kNever when the device never gets to the end
  // of it. Called once, in order of virtual time; without it, computing takes no time.
  std::function<TimePoint(TimePoint)> compute;
  Fault fault;
};

enum class DeviceOutcome {
  kArrived,   // Its update is in the round.
  kLate,      // Its update came after the round's end and is discarded.
  kAbsent,    // Took no part.
  kVanished,  // Gone on the way.
  kCrashed,   // Broke off in its upload.
  kLost,      // Its update was sent and never came.
  kStuck,     // Neither done nor gone: its computation or transfer never ends.
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
  // When it is over for the device: its update sent, or its failure. Never, for a stuck one.
  TimePoint settled{0};
  Bytes pulled{0};  // Moved, whether or not it was all.
  Bytes pushed{0};

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
RoundTimes SimulateRound(std::span<const ServerShard> servers, std::span<const DeviceTask> tasks, TimePoint start,
                         std::optional<Duration> deadline, std::size_t quorum);

}  // namespace tributary
