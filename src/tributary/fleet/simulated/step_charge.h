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

// A device's steps on the virtual clock, where each may train another part of the network. What a step trains is decided when
// it begins: the best that is done, as the device's availability goes on, within its slot (StepSlot). So if
// something fits at every step, the last one ends in time.
//
// Computing is divided as without choices (DeviceTask): a part for each segment of the pull, then one for each of the push,
// the first of which has everything between the first pass forward and the last one back. A sub-network's cost is taken to
// be the same share of each layer's.
class SubnetworkWalk {
 public:
  struct Work {
    StepCosts costs;              // of the whole network, on a free processor
    std::vector<double> seconds;  // likewise, of each step; at least one
    StepPlan plan;
    TimePoint until{0};  // when computing has to be done
  };

  // What it refers to must outlive it.
  SubnetworkWalk(const Availability& availability, Work work, RoundChoice choice)
      : availability_(availability), work_(std::move(work)), choice_(std::move(choice)) {}

  // When this part is done if it begins at this moment, or kNever; each is asked for once, in order.
  TimePoint Part(std::size_t part, TimePoint begin);

  const RoundChoice& choice() const { return choice_; }
  // What lay between the first pass forward and the last one back.
  Duration between() const { return between_; }

 private:
  // Decides what the next step trains, which begins at this moment; as a share of the whole network's cost.
  double Decide(TimePoint begin);
  TimePoint Finish(TimePoint begin, double seconds) const;
  // From the first pass back to the last pass forward.
  TimePoint Middle(TimePoint begin);

  const Availability& availability_;
  const Work work_;
  RoundChoice choice_;
  double share_ = 1;  // of the step that is under way
  Duration between_{0};
};

}  // namespace tributary::inline simulated
