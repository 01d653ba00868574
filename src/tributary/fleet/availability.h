#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <variant>

#include "tributary/base/clock.h"
#include "tributary/base/ids.h"
#include "tributary/base/status.h"
#include "tributary/fleet/trace.h"

namespace tributary::inline fleet {

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
  double ShareOfStep(const RandomSteps& steps, std::int64_t step) const;
  std::optional<TimePoint> FinishSteps(const RandomSteps& steps, TimePoint start,
                                       Duration at_full_rate) const;

  AvailabilityKind kind_ = 1.0;
  std::uint64_t seed_ = 0;
  DeviceId device_;
};

}  // namespace tributary::inline fleet
