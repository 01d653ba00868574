#pragma once

#include <span>

#include "tributary/fleet/simulated/device_threads.h"
#include "tributary/fleet/simulated/round_clock.h"

namespace tributary::inline simulated {

// Gossip rounds: devices average their own models with their neighbours'. Models are sent directly between
// the devices' links (meeting_timeline.h). Parts already have their devices, disturbances and assignments.

// Plays the round without advancing the clock: fills in each part's progress, and the reports.
OrderTimeline PlayMeetings(const WorkOrder& order, const RoundClock& clock, Bytes model,
                           std::span<DevicePart> parts, std::vector<DeviceReport>& reports);

// Then trains the devices that compute: local steps, and the averages of those still present.
Status TrainMeetings(const WorkOrder& order, DeviceThreads& threads, std::span<DevicePart> parts,
                     std::span<DeviceReport> reports);

}  // namespace tributary::inline simulated
