#pragma once

#include <span>

#include "tributary/fleet/simulated/device_threads.h"
#include "tributary/fleet/simulated/round_clock.h"

namespace tributary::inline simulated {

// A round of devices that have models of their own and average them with their neighbours'. Those travel between the
// devices' links (meeting_timeline.h). Parts have their devices, troubles and assignments.

// On the clock, which stays where it is: fills in how far each part comes, and a report of it. Only those that compute
// are trained.
OrderTimeline PlayMeetings(const WorkOrder& order, const RoundClock& clock, Bytes model,
                           std::span<DevicePart> parts, std::vector<DeviceReport>& reports);

// Then on the threads: local steps, and the average of those who are still there.
Status TrainMeetings(const WorkOrder& order, DeviceThreads& threads, std::span<DevicePart> parts,
                     std::span<DeviceReport> reports);

}  // namespace tributary::inline simulated
