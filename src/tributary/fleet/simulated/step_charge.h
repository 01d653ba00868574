#pragma once

#include <memory>
#include <vector>

#include "tributary/fleet/profile.h"
#include "tributary/fleet/report.h"
#include "tributary/fleet/simulated/device_timeline.h"
#include "tributary/fleet/step_plan.h"
#include "tributary/model/model.h"

namespace tributary::inline simulated {

// What a device computes in its part of a round, in samples.
struct StepWork {
  double first = 0;   // of its first pass, forward
  double last = 0;    // of its last pass, back
  double passes = 0;  // over all of them: a pass forward counts once, a pass back twice
  double slow = 1;    // factor on its time
};

// What the charged network costs a device.
class StepCharge {
 public:
  explicit StepCharge(const Model& charged);

  // Of a pass, of which a sample's training is three: of all units forward, and less where some are frozen.
  double macs() const { return pass_macs_; }
  const std::shared_ptr<const std::vector<std::int64_t>>& unit_bytes() const { return unit_bytes_; }
  // As the profile promises, when no other device uses the servers.
  StepCosts Costs(const DeviceProfile& profile, const StepWork& work) const;
  // One segment each way.
  StepPlan Whole() const;

 private:
  std::vector<double> macs_, backward_;  // per unit
  double pass_macs_ = 0;
  std::shared_ptr<const std::vector<std::int64_t>> unit_bytes_;
};

// A device's part in a round as a task for the clock, and what the clock says as what a real device would have seen.

// Fills in the segments of the pull and the push.
void SegmentTask(const StepPlan& plan, std::span<const std::int64_t> unit_bytes, DeviceTask& task);
// How long each part of the computation takes on a free processor: for the pull's segments, then for the push's. They
// add up to what all of it takes, to the nanosecond; empty if that is longer than the clock goes.
std::vector<Duration> PartsOf(const StepCosts& costs, const StepPlan& plan);
// Of a step that was brought to its end.
StepObservation ObservationOf(const DeviceTimes& times, Duration stream_wait, const StepPlan& plan,
                              const DeviceTask& task, const StepCosts& costs);

// A device's time from the round's start to its end, divided into what it did; what it would have done after the end
// does not count. `between` is what it computes between its first pass forward and its last pass back.
DeviceReport ReportOf(const DeviceTimes& times, Duration stream_wait, Duration between, const Busy& round);

}  // namespace tributary::inline simulated
