#pragma once

#include <span>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/fleet/availability.h"
#include "tributary/fleet/step_plan.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline simulated {

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
