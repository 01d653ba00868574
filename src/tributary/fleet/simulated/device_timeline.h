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

// What goes wrong with a device in one round.
struct NoFault {};
struct NeverJoins {};  // Does not take part at all, and is known not to.
// Is gone from that moment on, in whatever it is doing; without effect when its update has arrived by then.
struct Vanishes {
  TimePoint at{0};
};
// Breaks off when this fraction of the update, in [0, 1], has been sent.
struct CrashesInUpload {
  double fraction = 0;
};
struct LosesUpdate {};  // Sends all of it, and the message never gets there.
using Fault = std::variant<NoFault, NeverJoins, Vanishes, CrashesInUpload, LosesUpdate>;

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
// a message, the coordinator works on it (SplitWork), and its reply comes down in another. Then the parts are those of the
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
struct SplitWork {
  // Whether replies wait until all devices that still can have come. With a deadline, those who have come by then are all,
  // if they are a quorum; and the deadline starts again, without the others.
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

// A group of tasks on a virtual clock, as its coordinator gets to know of them.
struct OrderTimeline {
  TimePoint start{0};
  TimePoint idle{0};                 // when the last thing happens
  std::vector<DeviceTimes> devices;  // in the order of the tasks
  std::vector<FleetEvent> events;    // by rising time
  std::size_t told = 0;              // of the events

  // The next event up to `timer`, which moves the clock. What happens at the very moment of the timer comes before it.
  FleetEvent Next(std::optional<TimePoint> timer, VirtualClock& clock) {
    if (told < events.size() && (!timer || events[told].at <= *timer)) {
      clock.AdvanceTo(events[told].at);
      return events[told++];
    }
    clock.AdvanceTo(std::max(clock.Now(), timer.value_or(idle)));
    return {clock.Now(), timer ? FleetEvent::Kind::kTimer : FleetEvent::Kind::kIdle};
  }
};

// Plays tasks that begin at `start`: deterministic, without threads, models or training. Every device is played to its
// end, as if nobody told it to stop. `deadline` (from `start`) and `quorum` are those of a cut at which devices wait.
//
// The coordinator is no clairvoyant: it is told of a device that is going to vanish when it does, and of a lost update
// when all of it has been sent. Of a stuck device it is told nothing.
OrderTimeline PlayDevices(std::span<const ServerShard> servers, std::span<const DeviceTask> tasks,
                          TimePoint start, std::optional<Duration> deadline, std::size_t quorum,
                          const SplitWork& cut = {});

// What the coordinator has of the devices when it goes on without the others at `end`: a device that arrives at that very
// moment is in, and one that arrives later is late. `settled` still says when a late device is free again; its traffic
// after `end` is not felt by any other task.
inline void CloseAt(TimePoint end, DeviceTimes& times) {
  while (times.taken > 0 && times.ups[times.taken - 1].end > end) --times.taken;
  if (times.outcome == DeviceOutcome::kArrived && times.settled > end) times.outcome = DeviceOutcome::kLate;
}

}  // namespace tributary::inline simulated
