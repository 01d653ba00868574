#pragma once

#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/simulated/simulated_device.h"

namespace tributary::inline simulated {

// The clock's side of the simulator: what a round costs each device in time and bytes, and who is in time. It never looks
// at weights.
//
//   1. Ask, for each part of an order to train; for other work, parts are filled in by the caller
//   2. Play
//   3. Report, for each part, when the order is closed
class RoundClock {
 public:
  // A training pass over a sample costs its forward pass and twice as much again to go back.
  static constexpr double kTrainingPasses = 3;

  // Options must outlive it.
  explicit RoundClock(const SimulatedFleetOptions& options);

  VirtualClock& clock() { return clock_; }
  const VirtualClock& clock() const { return clock_; }
  const StepCharge& charge() const { return charge_; }

  // Charges a part for training on its assignment and on what it has received, of which it shares so many samples.
  void Ask(std::size_t share, DevicePart& part);
  // Plays an order from now on and fills in what the clock says of each part. The clock itself stays where it is.
  OrderTimeline Play(const WorkOrder& order, std::span<DevicePart> parts) const;
  // What a part took of an order that was open for this long; plans follow it.
  DeviceReport Report(const Busy& open, DevicePart& part);

 private:
  bool plans() const;
  DeviceTask TaskOf(const WorkOrder& order, DevicePart& part) const;
  // How long each part of a device's work takes.
  std::vector<Duration> LengthsOf(const DevicePart& part) const;
  // What crosses a cut, and how long the coordinator works on it.
  SplitWork SplitWorkOf(const SplitServer& server, std::span<const DevicePart> parts) const;
  // Of devices that choose what they train; null where they do not.
  std::unique_ptr<SubnetworkWalk> WalkOf(const WorkOrder& order, const DevicePart& part,
                                         const DeviceTask& task) const;
  Duration LongestPush(const DeviceTask& task, std::size_t participants) const;

  const SimulatedFleetOptions& options_;
  const std::vector<ServerShard> shards_;
  const StepCharge charge_;
  VirtualClock clock_;
};

}  // namespace tributary::inline simulated
