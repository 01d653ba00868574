#pragma once

#include <memory>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/fleet/availability.h"
#include "tributary/fleet/profile.h"
#include "tributary/fleet/report.h"
#include "tributary/fleet/simulated/device_timeline.h"
#include "tributary/fleet/step_plan.h"
#include "tributary/model/model.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline simulated {

// A device's computation in a round, in samples.
struct StepWork {
  double first = 0;   // in the first forward pass
  double last = 0;    // in the last backward pass
  double passes = 0;  // total: a forward pass counts once, a backward pass twice
  double slow = 1;    // factor on its time
};

// The costs of the charged network on a device.
class StepCharge {
 public:
  explicit StepCharge(const Model& charged);

  // Cost of a pass; training a sample takes three. All units forward, less where some are frozen.
  double macs() const { return pass_macs_; }
  const std::shared_ptr<const std::vector<std::int64_t>>& unit_bytes() const { return unit_bytes_; }
  // According to the profile, when no other device uses the servers.
  StepCosts Costs(const DeviceProfile& profile, const StepWork& work) const;
  // One segment each way.
  StepPlan Whole() const;

 private:
  std::vector<double> macs_, backward_;  // per unit
  double pass_macs_ = 0;
  std::shared_ptr<const std::vector<std::int64_t>> unit_bytes_;
};

// Convert a device's part into a task for the clock, and its times into what a real device would measure.

void SegmentTask(const StepPlan& plan, std::span<const std::int64_t> unit_bytes, DeviceTask& task);
// Duration of each part of the computation at the full rate: for the pull's segments, then the push's. They
// add up to the total to the nanosecond; empty if that exceeds the clock's range.
std::vector<Duration> PartsOf(const StepCosts& costs, const StepPlan& plan);
// For a completed step.
StepObservation ObservationOf(const DeviceTimes& times, Duration stream_wait, const StepPlan& plan,
                              const DeviceTask& task, const StepCosts& costs);

// Divides a device's time from the round's start to its end by activity; anything after the end does not
// count. `between`: computation between its first forward and its last backward pass.
DeviceReport ReportOf(const DeviceTimes& times, Duration stream_wait, Duration between, const Busy& round);

// A device's steps on the virtual clock, where each may train another sub-network. The choice is made when a
// step begins: the best sub-network that finishes within the step's slot (StepSlot) at the device's
// availability. If something fits at every step, the last step ends in time.
//
// The computation has the parts of DeviceTask: one per segment of the pull, then one per segment of the push;
// the first of the latter includes everything between the first forward and the last backward pass. A
// sub-network's cost is taken as the same fraction of every layer's cost.
class SubnetworkWalk {
 public:
  struct Work {
    StepCosts costs;              // of the whole network, at the full rate
    std::vector<double> seconds;  // of each step, of the whole network at the full rate; at least one
    StepPlan plan;
    TimePoint until{0};  // end of the time for computing
  };

  // References must outlive it.
  SubnetworkWalk(const Availability& availability, Work work, RoundChoice choice)
      : availability_(availability), work_(std::move(work)), choice_(std::move(choice)) {}

  // When this part is done if it begins at `begin`, or kNever; called once per part, in order.
  TimePoint Part(std::size_t part, TimePoint begin);

  const RoundChoice& choice() const { return choice_; }
  // Time between the first forward and the last backward pass.
  Duration between() const { return between_; }

 private:
  // Chooses the next step's sub-network; returns its fraction of the whole network's cost.
  double Decide(TimePoint begin);
  TimePoint Finish(TimePoint begin, double seconds) const;
  // From the first backward pass to the last forward pass.
  TimePoint Middle(TimePoint begin);

  const Availability& availability_;
  const Work work_;
  RoundChoice choice_;
  double share_ = 1;  // cost fraction of the current step
  Duration between_{0};
};

}  // namespace tributary::inline simulated
