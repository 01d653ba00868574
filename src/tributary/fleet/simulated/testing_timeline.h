#pragma once

#include "tributary/fleet/simulated/device_timeline.h"
#include "tributary/fleet/synchronous_round.h"

namespace tributary::inline simulated {

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

// A synchronous round of these tasks, as a simulated fleet plays it.
inline RoundTimes SimulateRound(std::span<const ServerShard> servers, std::span<const DeviceTask> tasks,
                                TimePoint start, std::optional<Duration> deadline, std::size_t quorum,
                                const SplitWork& cut = {}) {
  OrderTimeline timeline = PlayDevices(servers, tasks, start, deadline, quorum, cut);
  VirtualClock clock;
  clock.AdvanceTo(start);
  SynchronousRound round(tasks.size(), quorum, deadline, start);
  std::size_t settled = 0;
  bool idle = false;
  std::optional<TimePoint> until;  // the deadline as it is at the end
  while (!round.over()) {
    until = round.timer();
    const FleetEvent event = timeline.Next(until, clock);
    idle = event.kind == FleetEvent::Kind::kIdle;
    settled += event.kind == FleetEvent::Kind::kCompleted || event.kind == FleetEvent::Kind::kFailed;
    round.On(event);
  }
  until = round.timer();
  RoundTimes times{.start = start, .end = clock.Now(), .devices = std::move(timeline.devices)};
  for (DeviceTimes& device : times.devices) {
    CloseAt(times.end, device);
    if (device.outcome == DeviceOutcome::kArrived) ++times.arrived;
  }
  if (times.arrived < quorum) {
    times.why = RoundEnd::kQuorumMissed;
  } else if (until && times.end > *until) {
    times.why = RoundEnd::kQuorum;
  } else if (!idle && settled < tasks.size()) {
    times.why = RoundEnd::kDeadline;
  }
  return times;
}

}  // namespace tributary::inline simulated
