#pragma once

#include <algorithm>
#include <cmath>
#include <optional>

#include "tributary/base/clock.h"

namespace tributary::inline fleet {

// A moment computed in nanoseconds, never before `start` by a rounding; nothing when it lies further away than a
// TimePoint can hold (some 290 years), which for any run is never.
inline std::optional<TimePoint> ToMoment(double nanoseconds, TimePoint start) {
  constexpr double kLast = 9.2e18;
  if (!(nanoseconds < kLast)) return std::nullopt;
  return std::max(start, TimePoint(std::llround(nanoseconds)));
}

}  // namespace tributary::inline fleet
