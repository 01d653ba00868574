#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/units.h"

namespace tributary::inline simulated {

// A device that averages its model with its neighbours', as the clock sees it.
struct MeetingTask {
  Duration setup{0};       // of every message it sends
  Duration round_trip{0};  // its part of the way; between two devices, half of each
  BitsPerSecond up, down;  // positive; may be unlimited
  TimePoint computed{0};   // when it has something to send; kNever (event_queue.h) if that never comes
  double sends = 1;        // the fraction of each message after which it breaks off
};

// One model on its way, between places in the list of tasks.
struct MeetingFlow {
  std::size_t from = 0, to = 0;
};

struct MeetingTimes {
  std::vector<TimePoint> begins;  // per flow: its first byte leaves; kNever if none does
  std::vector<TimePoint> ends;    // its last byte is there, or the sender has broken off
};

// Plays the exchange of models of `size` bytes. A model leaves when its device has computed it, to all neighbours at once,
// after a set-up and the way there. A device's link in one direction is divided equally among the flows in progress on
// it, and a flow moves at the lower of what its two ends give it; what it cannot use of the other end is not passed on.
//
// Deterministic, and exact to the nanosecond. Costs O(log flows) for each neighbour of a device at each beginning and end.
MeetingTimes SimulateMeetings(std::span<const MeetingTask> tasks, std::span<const MeetingFlow> flows,
                              Bytes size);

}  // namespace tributary::inline simulated
