#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/units.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/simulated/links.h"

namespace tributary::inline simulated {

// A device's fault in one round.
struct NoFault {};
struct NeverJoins {};  // does not take part, and is known not to
// Stops at that time, whatever it is doing; no effect if its update has arrived by then.
struct Vanishes {
  TimePoint at{0};
};
// Stops after this fraction of the update, in [0, 1], has been sent.
struct CrashesInUpload {
  double fraction = 0;
};
struct LosesUpdate {};  // sends all of it, but the message never arrives
using Fault = std::variant<NoFault, NeverJoins, Vanishes, CrashesInUpload, LosesUpdate>;

// A device's steps in a round when each transfer is one message:
//
//   start ─ set-up, ½ round trip ─ pull ─ compute ─ set-up, ½ round trip ─ push ─ arrived
//
// Transfers may be divided into segments: messages with their own set-up and half round trip, even if empty.
// The computation then has a part per segment. The parts of the pull's segments begin in order, each when its
// segment has arrived. The parts of the push's segments follow; a segment is sent when its part is done and
// the previous one is sent. Segments are divided over the servers in proportion to their content.
//
// In a split network, crossings lie between the forward and the backward pass: activations go up in a
// message, the coordinator works on them (SplitWork), and its reply comes down. The parts are then those of
// the pull's segments, one between each two crossings, and those of the push's segments.
struct DeviceTask {
  DeviceId device;
  TimePoint start{0};  // when the device is free to begin; not before the round
  Duration setup{0};   // per message
  Duration round_trip{0};
  BitsPerSecond up = kUnlimited;
  BitsPerSecond down = kUnlimited;
  // In sending order; at least one each.
  std::vector<Bytes> pull = {Bytes{0}};
  std::vector<Bytes> push = {Bytes{0}};
  struct Crossing {
    Bytes up, down;
  };
  std::vector<Crossing> crossings;
  // When this part of the work is done if it begins at the given time: not before it, and kNever if the
  // device never completes it. Called once per part, in order; without it, computing takes no time.
  std::function<TimePoint(std::size_t part, TimePoint)> compute;
  Fault fault;
};

// The coordinator's work on crossings: one at a time, in the order of arrival.
struct SplitWork {
  // Whether replies wait for all remaining devices. A deadline closes crossings with a quorum and restarts.
  bool waits = false;
  // The time for one device's batch, and for all batches together if replies wait.
  std::function<Duration(std::size_t task, int crossing)> each;
  std::function<Duration(std::span<const std::size_t> tasks, int crossing)> all;
};

enum class DeviceOutcome {
  kArrived,   // its update is in the round
  kLate,      // its update came after the round's end, or its batch after a crossing was closed; discarded
  kAbsent,    // took no part
  kVanished,  // stopped on the way
  kCrashed,   // stopped during its upload
  kLost,      // its update was sent and never arrived
  kStuck,     // neither done nor gone: its computation or transfer never ends
};

struct Busy {
  TimePoint begin{0};
  TimePoint end{0};
  friend bool operator==(const Busy&, const Busy&) = default;
};

// Times that it did not reach are empty.
struct DeviceTimes {
  DeviceId device;
  DeviceOutcome outcome = DeviceOutcome::kStuck;
  std::optional<TimePoint> pull_begin;
  std::optional<TimePoint> pull_end;
  std::optional<TimePoint> compute_end;
  std::optional<TimePoint> push_begin;
  std::optional<TimePoint> push_end;  // everything sent; also for a lost update
  // Messages with their set-up, and parts of the work. An interrupted one ends then; if stuck, never.
  std::vector<Busy> pulls;
  std::vector<Busy> parts;
  std::vector<Busy> pushes;
  // Crossings, up and down, as far as they got.
  std::vector<Busy> ups;
  std::vector<Busy> downs;
  std::size_t taken = 0;  // crossings for which its batch got a reply
  // When the device has finished: its update sent, or its failure. Never for a stuck device.
  TimePoint settled{0};
  Bytes pulled{0};  // transferred, complete or not
  Bytes pushed{0};
  Bytes crossed_up{0};  // at crossings; their downward bytes are in `pulled`

  friend bool operator==(const DeviceTimes&, const DeviceTimes&) = default;
};

// Tasks on a virtual clock, as reported to the coordinator.
struct OrderTimeline {
  TimePoint start{0};
  TimePoint idle{0};                 // time of the last event
  std::vector<DeviceTimes> devices;  // in the order of the tasks
  std::vector<FleetEvent> events;    // in order of time
  std::size_t told = 0;              // number of events already reported

  // The next event up to `timer`, which advances the clock. Events at the time of the timer come before it.
  FleetEvent Next(std::optional<TimePoint> timer, VirtualClock& clock) {
    if (told < events.size() && (!timer || events[told].at <= *timer)) {
      clock.AdvanceTo(events[told].at);
      return events[told++];
    }
    clock.AdvanceTo(std::max(clock.Now(), timer.value_or(idle)));
    return {clock.Now(), timer ? FleetEvent::Kind::kTimer : FleetEvent::Kind::kIdle};
  }
};

// Simulates tasks that begin at `start`: deterministic, without threads or training. Every device is played
// to its end, as if never stopped. `deadline` (from `start`) and `quorum` are for crossings with waiting.
//
// The coordinator has no foresight: it learns of a vanishing device when it vanishes, and of a lost update
// when all of it has been sent. It is told nothing about stuck devices.
OrderTimeline PlayDevices(std::span<const ServerShard> servers, std::span<const DeviceTask> tasks,
                          TimePoint start, std::optional<Duration> deadline, std::size_t quorum,
                          const SplitWork& cut = {});

// The coordinator's view if the round ends at `end`: an update that arrives exactly then is in, later ones
// are late. `settled` still says when a late device is free; its later traffic does not affect other tasks.
inline void CloseAt(TimePoint end, DeviceTimes& times) {
  while (times.taken > 0 && times.ups[times.taken - 1].end > end) --times.taken;
  if (times.outcome == DeviceOutcome::kArrived && times.settled > end) times.outcome = DeviceOutcome::kLate;
}

}  // namespace tributary::inline simulated
