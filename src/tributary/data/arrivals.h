#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>

#include "tributary/data/rate_programme.h"
#include "tributary/data/recorded_times.h"

namespace tributary {

// When the samples of a stream arrive: at a rate that somebody chose, or when they were recorded. A function of time
// alone, either way.
class Arrivals {
 public:
  Arrivals(RateProgramme programme) : schedule_(std::move(programme)) {}  // NOLINT: implicit on purpose
  Arrivals(RecordedTimes times) : schedule_(std::move(times)) {}          // NOLINT: likewise

  // Samples that have arrived `time` after the start. Never decreases.
  std::int64_t Arrived(TimePoint time) const {
    return std::visit([&](const auto& schedule) { return schedule.Arrived(time); }, schedule_);
  }
  // The first moment at which `count` have arrived; nothing if they never do, or not within thirty years.
  std::optional<TimePoint> TimeOf(std::int64_t count) const {
    return std::visit([&](const auto& schedule) { return schedule.TimeOf(count); }, schedule_);
  }

 private:
  std::variant<RateProgramme, RecordedTimes> schedule_;
};

}  // namespace tributary
