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

// A recorded share of a device's compute rate, piecewise constant. Immutable and shared by a group of
// devices. A step's share holds until the next step; `After` says what follows the last step.
class Trace {
 public:
  struct Step {
    TimePoint from;
    double share = 0;
    friend bool operator==(const Step&, const Step&) = default;
  };
  enum class After {
    kHold,    // the last share, for ever
    kRepeat,  // the recording starts again; the share of the last step is not used
    kEnd,     // the device is gone
  };

  // Fails, naming the step, on times that do not start at 0 and rise, shares outside [0, 1], no steps, and a
  // single step that should end or repeat.
  static StatusOr<std::shared_ptr<const Trace>> Make(std::vector<Step> steps, After after);

  // 0 after the end of a trace that ends.
  double At(TimePoint time) const;
  // See Availability::Finish. O(log steps), also for long work and repeated recordings.
  std::optional<TimePoint> Finish(TimePoint start, Duration at_full_rate) const;
  const std::vector<Step>& steps() const { return steps_; }
  After after() const { return after_; }
  TimePoint end() const { return steps_.back().from; }

 private:
  Trace(std::vector<Step> steps, After after);

  // DoneAt: nanoseconds at full rate done in [0, time], time ≤ end. MomentOf: its inverse, the earliest time.
  double DoneAt(TimePoint time) const;
  double MomentOf(double done) const;

  std::vector<Step> steps_;
  std::vector<double> done_;  // at the start of each step
  After after_;
};

// A new share, uniformly distributed over [low, high], in every `period`.
struct RandomSteps {
  Duration period{0};  // above 0; shorter periods change the share more often within a round
  double low = 0;      // at 0 the device sometimes stands still
  double high = 1;     // above 0
  friend bool operator==(const RandomSteps&, const RandomSteps&) = default;
};

// A constant share in (0, 1], random steps, or a recording.
using AvailabilityKind = std::variant<double, RandomSteps, std::shared_ptr<const Trace>>;

// The share of its compute rate that a device has, piecewise constant over time. Immutable, thread-safe and
// of constant size. The answer at any time depends only on (kind, seed, device, time).
class Availability {
 public:
  // The full rate, always.
  Availability() = default;

  // Fails on shares outside [0, 1] or never above 0, or a period ≤ 0. Only random steps use seed and device.
  static StatusOr<Availability> Make(AvailabilityKind kind, std::uint64_t seed, DeviceId device);

  // The share at `time` ≥ 0.
  double At(TimePoint time) const;

  // The earliest time, rounded to a nanosecond, at which work that starts at `start` and takes `at_full_rate`
  // at a share of 1 is done. Nothing if it never ends: the share stays 0, the recording has ended, or the end
  // is more than 290 years or a million random steps away (this bounds the cost of a call).
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
