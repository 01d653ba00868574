#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"

namespace tributary::inline fleet {

// A recorded share of a device's compute rate, piecewise constant. Immutable, and shared by all devices of a group.
//
// Each step's share holds from its time to the next step's. The last step ends the recording: how long its share holds
// is not known, so `After` says what comes then.
class Trace {
 public:
  struct Step {
    TimePoint from;
    double share = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };
  enum class After {
    kHold,    // the last share, for ever
    kRepeat,  // the recording again from its start; the last step only marks where
    kEnd,     // nothing: the device is gone
  };

  // Refused with the step: times that do not start at 0 and rise, shares outside [0, 1], no steps, and a recording of
  // a single moment where it should end or repeat.
  static StatusOr<std::shared_ptr<const Trace>> Make(std::vector<Step> steps, After after);

  // 0 once it has ended.
  double At(TimePoint time) const;
  // As Availability::Finish. O(log steps), however long the work and however often the recording is repeated.
  std::optional<TimePoint> Finish(TimePoint start, Duration at_full_rate) const;

  const std::vector<Step>& steps() const { return steps_; }
  After after() const { return after_; }
  TimePoint end() const { return steps_.back().from; }

 private:
  Trace(std::vector<Step> steps, After after);

  // Nanoseconds at a full share that are done in [0, time], with time ≤ end; and the first moment at which so
  // many are.
  double DoneAt(TimePoint time) const;
  double MomentOf(double done) const;

  std::vector<Step> steps_;
  std::vector<double> done_;  // at the start of each step
  After after_;
};

}  // namespace tributary::inline fleet
