#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
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

// Every `period` the device gets a new share, drawn evenly between `low` and `high`.
struct RandomSteps {
  Duration period{0};  // shorter changes more often within a round; above 0
  double low = 0;      // 0 lets it stand still now and then
  double high = 1;     // above 0
  friend bool operator==(const RandomSteps&, const RandomSteps&) = default;
};

// A constant share above 0 and up to 1, random steps, or a recording.
using AvailabilityKind = std::variant<double, RandomSteps, std::shared_ptr<const Trace>>;

// The share of its compute rate that a device has over time: a piecewise constant function of time. Immutable and
// without state that grows: any moment may be asked for, in any order and from any thread, and the answer depends on
// (kind, seed, device, time) alone.
class Availability {
 public:
  // All of it, always.
  Availability() = default;

  // Refused with a reason: shares outside [0, 1], one that is never above 0, a period that is not positive. `seed` and
  // `device` choose the draws of random steps; the other kinds do not depend on them.
  static StatusOr<Availability> Make(AvailabilityKind kind, std::uint64_t seed, DeviceId device);

  // The share at `time`, which is not negative.
  double At(TimePoint time) const;

  // When work that takes `at_full_rate` at a share of 1 is done, if it begins at `start`; the earliest such moment,
  // rounded to a nanosecond. Nothing if that is never: the share stays 0, the recording has ended, or the end lies
  // beyond 290 years or, with random steps, beyond a million of them (the price of an answer stays bounded).
  std::optional<TimePoint> Finish(TimePoint start, Duration at_full_rate) const;

 private:
  Availability(AvailabilityKind kind, std::uint64_t seed, DeviceId device)
      : kind_(std::move(kind)), seed_(seed), device_(device) {}
  double ShareOfStep(const RandomSteps& steps, std::int64_t step) const;
  std::optional<TimePoint> FinishSteps(const RandomSteps& steps, TimePoint start,
                                       Duration at_full_rate) const;

  AvailabilityKind kind_ = 1.0;
  std::uint64_t seed_ = 0;
  DeviceId device_;
};

}  // namespace tributary::inline fleet
