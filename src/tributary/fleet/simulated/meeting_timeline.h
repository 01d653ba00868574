#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/units.h"

namespace tributary::inline simulated {

// A device that averages its model with its neighbours'.
struct MeetingTask {
  Duration setup{0};       // of every message that it sends
  Duration round_trip{0};  // to the coordinator; between two devices, half of each
  BitsPerSecond up, down;  // positive; may be unlimited
  TimePoint computed{0};   // when its model is ready; kNever (event_queue.h) if never
  double sends = 1;        // fraction of each message after which it stops
};

// A model transfer between two tasks, by index.
struct MeetingFlow {
  std::size_t from = 0, to = 0;
};

struct MeetingTimes {
  std::vector<TimePoint> begins;  // per flow: its first byte is sent; kNever if none is
  std::vector<TimePoint> ends;    // its last byte has arrived, or the sender has stopped
};

// Simulates the exchange of models of `size` bytes. A device sends its model to all neighbours when it is
// ready, after a set-up and the latency. A device's link in one direction is divided equally among its active
// flows, and a flow moves at the lower rate of its two ends; unused capacity is not passed on. Deterministic,
// and exact to the nanosecond. Each beginning and end costs O(log flows) per neighbour of the device.
MeetingTimes SimulateMeetings(std::span<const MeetingTask> tasks, std::span<const MeetingFlow> flows,
                              Bytes size);

}  // namespace tributary::inline simulated
