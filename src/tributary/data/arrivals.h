#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>

#include "tributary/data/rate_programme.h"
#include "tributary/data/recorded_times.h"

namespace tributary {

// When the samples of a stream arrive, as somebody else knows it. Time is counted from the stream's start.
class ArrivalTimes {
 public:
  virtual ~ArrivalTimes() = default;
  virtual std::int64_t Arrived(TimePoint time) = 0;
  virtual std::optional<TimePoint> TimeOf(std::int64_t count) = 0;
};

// When the samples of a stream arrive: at a rate that somebody chose, when they were recorded, or as somebody else knows.
// A function of time alone, either way.
class Arrivals {
 public:
  Arrivals(RateProgramme programme) : schedule_(std::move(programme)) {}  // NOLINT: implicit on purpose
  Arrivals(RecordedTimes times) : schedule_(std::move(times)) {}          // NOLINT: likewise
  Arrivals(std::shared_ptr<ArrivalTimes> times) : schedule_(Known{std::move(times)}) {}  // NOLINT: likewise

  // Samples that have arrived `time` after the start. Never decreases.
  std::int64_t Arrived(TimePoint time) const {
    return std::visit([&](const auto& schedule) { return schedule.Arrived(time); }, schedule_);
  }
  // The first moment at which `count` have arrived; nothing if they never do, or not within thirty years.
  std::optional<TimePoint> TimeOf(std::int64_t count) const {
    return std::visit([&](const auto& schedule) { return schedule.TimeOf(count); }, schedule_);
  }

 private:
  struct Known {
    std::shared_ptr<ArrivalTimes> times;
    std::int64_t Arrived(TimePoint time) const { return times->Arrived(time); }
    std::optional<TimePoint> TimeOf(std::int64_t count) const { return times->TimeOf(count); }
  };
  std::variant<RateProgramme, RecordedTimes, Known> schedule_;
};

}  // namespace tributary
