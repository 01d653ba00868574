#pragma once

#include "tributary/fleet/protocol/members.h"
#include "tributary/fleet/protocol/task.h"

namespace tributary::inline protocol {

// What a device says with its answer, checked and turned into a report. Pure functions.

// A device's word on its stream is its own loss if it is wrong, but what follows from it must be possible. `received` of
// the answer's samples came from other devices.
Status CheckStream(const Answer& answer, std::int64_t received, const Member& member);
// A device without a choice has made none, and the others one that there is: of `menu`, 0 where there is no choice.
Status CheckKept(const Answer& answer, std::size_t menu);

// Where the time of an answered task went; of training for an update, what plans can learn from it. `unit_bytes` are
// those of the model's transfer units.
StepObservation DescribeAnswer(const Task& task, const Answer& answer, TimePoint now, bool trains,
                               std::span<const std::int64_t> unit_bytes, DeviceReport& report);

// Moves the estimates of a member towards what its answer has shown. `macs` is what a sample takes forward.
void LearnFromAnswer(const Task& task, const Answer& answer, const DeviceReport& report,
                     const StepObservation& seen, bool trains, double macs, std::size_t member,
                     Members& members);

}  // namespace tributary::inline protocol
