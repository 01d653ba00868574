#pragma once

#include "tributary/fleet/protocol/members.h"
#include "tributary/fleet/protocol/task.h"

namespace tributary::inline protocol {

// Checks a device's answer and turns it into a report. Pure functions.

// Checks that positions are possible; other figures about its stream only harm the device itself.
// `received`: samples of the answer that came from other devices.
Status CheckStream(const Answer& answer, std::int64_t received, const Member& member);
// The answer must name a choice, below `menu`, exactly if the device has one (`menu` > 0).
Status CheckKept(const Answer& answer, std::size_t menu);

// Fills in how the time of an answered task was spent. For training with an update, returns what the planner
// can learn. `unit_bytes` belongs to the model's transfer units.
StepObservation DescribeAnswer(const Task& task, const Answer& answer, TimePoint now, bool trains,
                               std::span<const std::int64_t> unit_bytes, DeviceReport& report);

// Updates the estimates of a member from its answer. `macs`: cost of a sample's forward pass;
// `measured`: from the assignment to the answer.
void LearnFromAnswer(const Task& task, const Answer& answer, Duration measured, const DeviceReport& report,
                     const StepObservation& seen, bool trains, double macs, std::size_t member,
                     Members& members);

}  // namespace tributary::inline protocol
