#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tributary/base/clock.h"

namespace tributary {

// When the samples of a recording arrive if it is played `speed` times as fast as it was made, gaps and all. At its end it
// starts over, with its first sample as long after the last as it was after the recording's beginning; so a stream of it
// never ends. A recording shorter than a millisecond is played as if it had lasted one. A value that never changes.
class RecordedTimes {
 public:
  // Times count from the recording's beginning and never decrease; there is at least one. The speed is above 0.
  RecordedTimes(std::vector<Duration> times, double speed);

  // As in RateProgramme: samples that have arrived `time` after the start, and the first moment at which `count` have;
  // nothing if that is not within thirty years.
  std::int64_t Arrived(TimePoint time) const;
  std::optional<TimePoint> TimeOf(std::int64_t count) const;

 private:
  std::vector<Duration> times_;  // at the speed of playing
  Duration length_;              // of one time through
};

}  // namespace tributary
