#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"

namespace tributary::inline data {

// How fast a stream runs over time: a mean rate, and steps during which it is some factor of that. What has arrived by a
// moment is the integral, in closed form, so a stream's history is a function of the time alone, the same on every
// machine and however often it is asked. A value: cheap to copy, never changes.
class RateProgramme {
 public:
  struct Hold {
    double factor = 1;  // 0 stops the stream.
    friend bool operator==(const Hold&, const Hold&) = default;
  };
  // In a straight line from one factor to another, over the length of the step.
  struct Drift {
    double from = 1;
    double to = 1;
    friend bool operator==(const Drift&, const Drift&) = default;
  };
  // 1 + amplitude · sin(2π · time / period), from the start of the step. 0 ≤ amplitude ≤ 1.
  struct Sine {
    double amplitude = 0;
    Duration period{0};
    friend bool operator==(const Sine&, const Sine&) = default;
  };
  // `factor` during the first `on` of every period, 1 in the rest of it.
  struct Burst {
    double factor = 1;
    Duration on{0};
    Duration period{0};
    friend bool operator==(const Burst&, const Burst&) = default;
  };
  struct Step {
    std::variant<Hold, Drift, Sine, Burst> form;
    Duration lasts{0};  // kForever only in the last step, and not for a drift.
    friend bool operator==(const Step&, const Step&) = default;
  };
  enum class After {
    kPlain,   // factor 1, for ever
    kRepeat,  // the steps again from the first
  };
  static constexpr Duration kForever = Duration::max();

  // Refused with the number of the step: factors that are negative or not finite, times that are not positive, what
  // comes after a step without end. A rate of 0 is a stream that never brings anything.
  static StatusOr<RateProgramme> Make(SamplesPerSecond rate, std::vector<Step> steps = {},
                                      After after = After::kPlain);

  // Samples that have arrived `time` after the start, the first one 1/rate after it. Never decreases.
  std::int64_t Arrived(TimePoint time) const;
  // The first moment at which `count` have arrived; nothing if they never do, or not within thirty years.
  std::optional<TimePoint> TimeOf(std::int64_t count) const;

  SamplesPerSecond rate() const { return rate_; }
  const std::vector<Step>& steps() const { return steps_; }
  After after() const { return after_; }

 private:
  RateProgramme(SamplesPerSecond rate, std::vector<Step> steps, After after);

  SamplesPerSecond rate_;
  std::vector<Step> steps_;
  After after_;
  std::vector<Duration> starts_;  // of each step, and the end of the last
  std::vector<double> done_;      // seconds at factor 1 that have passed by then
};

// What a programme does to whatever rate it is given.
struct RateSteps {
  std::vector<RateProgramme::Step> steps;
  RateProgramme::After after = RateProgramme::After::kPlain;
  friend bool operator==(const RateSteps&, const RateSteps&) = default;
};

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

}  // namespace tributary::inline data
