#pragma once

#include <memory>
#include <vector>

#include "tributary/fleet/profile.h"
#include "tributary/fleet/report.h"
#include "tributary/fleet/simulated/device_timeline.h"
#include "tributary/fleet/step_plan.h"
#include "tributary/model/unit_costs.h"

namespace tributary {

// What a device computes in its part of a round, in samples.
struct StepWork {
  double first = 0;   // of its first pass, forward
  double last = 0;    // of its last pass, back
  double passes = 0;  // over all of them: a pass forward counts once, a pass back twice
  double slow = 1;    // it takes so many times as long
};

// What the charged network costs a device: turns its part in a round into a task for the clock, and what the clock says
// into what a real device would have seen of it.
class StepCharge {
 public:
  explicit StepCharge(const Model& charged);

  const std::shared_ptr<const std::vector<std::int64_t>>& unit_bytes() const { return unit_bytes_; }
  // As the profile promises, when nobody else uses the servers.
  StepCosts Costs(const DeviceProfile& profile, const StepWork& work) const;
  // One segment each way.
  StepPlan Whole() const;

  // Fills in the segments of the pull and the push.
  void Cut(const StepPlan& plan, DeviceTask& task) const;
  // How long each part of the computation takes on a free processor: for the pull's segments, then for the push's.
  // They add up to the nanosecond to what everything in one part would take; empty if it is longer than the clock goes.
  std::vector<Duration> Parts(const DeviceProfile& profile, const StepPlan& plan, const StepWork& work) const;

  // What a device saw of a step that it brought to its end.
  StepObservation Observed(const DeviceTimes& times, Duration stream_wait, const StepPlan& plan, const DeviceTask& task,
                           const StepCosts& costs) const;

 private:
  UnitCosts units_;
  double macs_ = 0;  // of all units
  std::shared_ptr<const std::vector<std::int64_t>> unit_bytes_;
};

// A device's time from the round's start to its end, divided into what it did; what it would have done after the end
// does not count. `between` is what it computes between its first pass forward and its last pass back.
DeviceReport ReportOf(const DeviceTimes& times, Duration stream_wait, Duration between, const RoundTimes& round);

}  // namespace tributary
