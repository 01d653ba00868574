#pragma once

#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/fleet/fleet.h"
#include "tributary/fleet/simulated/simulated_device.h"

namespace tributary::inline simulated {

// The timing side of the simulator, without weights: time and bytes of each device, and who is in time.
//
//   1. Ask, for each part of a training order; for other work the caller fills in the parts
//   2. Play
//   3. Report, for each part, when the order is closed
class RoundClock {
 public:
  // Cost of training a sample in forward passes; the backward pass costs two.
  static constexpr double kTrainingPasses = 3;

  // `options` must outlive it.
  explicit RoundClock(const SimulatedFleetOptions& options);
  VirtualClock& clock() { return clock_; }
  const VirtualClock& clock() const { return clock_; }
  const StepCharge& charge() const { return charge_; }

  // Charges a part for training on its assignment and received samples; it shares `share` samples.
  void Ask(std::size_t share, DevicePart& part);
  // Plays an order from now on and fills in the times of each part, without advancing the clock.
  OrderTimeline Play(const WorkOrder& order, std::span<DevicePart> parts) const;
  // The report of a part of an order that was open during `open`; also updates the device's plan.
  DeviceReport Report(const Busy& open, DevicePart& part);

 private:
  bool plans() const;
  DeviceTask TaskOf(const WorkOrder& order, DevicePart& part) const;
  // Duration of each part of a device's work.
  std::vector<Duration> LengthsOf(const DevicePart& part) const;
  SplitWork SplitWorkOf(const SplitServer& server, std::span<const DevicePart> parts) const;
  // If devices choose sub-networks; otherwise null.
  std::unique_ptr<SubnetworkWalk> WalkOf(const WorkOrder& order, const DevicePart& part,
                                         const DeviceTask& task) const;
  Duration LongestPush(const DeviceTask& task, std::size_t participants) const;

  const SimulatedFleetOptions& options_;
  const std::vector<ServerShard> shards_;
  const StepCharge charge_;
  VirtualClock clock_;
};

}  // namespace tributary::inline simulated
