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

// A stream's rate over time: a mean rate, and steps with a factor on it. Arrivals are the integral in closed
// form, so a stream's history is a function of time alone, the same on every machine and for every sequence
// of queries. An immutable value, cheap to copy.
class RateProgramme {
 public:
  struct Hold {
    double factor = 1;  // 0 stops the stream.
    friend bool operator==(const Hold&, const Hold&) = default;
  };
  // Changes linearly between two factors over the length of the step.
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
  // `factor` during the first `on` of every period, 1 in the rest.
  struct Burst {
    double factor = 1;
    Duration on{0};
    Duration period{0};
    friend bool operator==(const Burst&, const Burst&) = default;
  };
  struct Step {
    std::variant<Hold, Drift, Sine, Burst> form;
    Duration lasts{0};  // kForever only in the last step, and not for a drift
    friend bool operator==(const Step&, const Step&) = default;
  };
  enum class After {
    kPlain,   // factor 1 forever
    kRepeat,  // the steps repeat
  };
  static constexpr Duration kForever = Duration::max();

  // Fails, with the number of the step, for factors that are negative or not finite, times that are not
  // positive, and steps after an endless one. A stream of rate 0 never delivers.
  static StatusOr<RateProgramme> Make(SamplesPerSecond rate, std::vector<Step> steps = {},
                                      After after = After::kPlain);

  // The number of samples by `time` after the start, the first one after 1/rate. Never decreases.
  std::int64_t Arrived(TimePoint time) const;
  // The time at which `count` samples have arrived; nullopt if never or after more than thirty years.
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
  std::vector<double> done_;      // integral of the factor in seconds at each start
};

// The steps of a programme without its rate.
struct RateSteps {
  std::vector<RateProgramme::Step> steps;
  RateProgramme::After after = RateProgramme::After::kPlain;
  friend bool operator==(const RateSteps&, const RateSteps&) = default;
};

// Arrival times of a recording that is played at `speed` times its original speed, with its gaps. It repeats
// forever: the first sample follows the last with the delay that it had from the recording's beginning. A
// recording shorter than a millisecond is played as if it lasted one. An immutable value.
class RecordedTimes {
 public:
  // Times count from the recording's beginning and are non-decreasing, at least one. The speed is above 0.
  RecordedTimes(std::vector<Duration> times, double speed);

  // As in RateProgramme; TimeOf is nullopt after more than thirty years.
  std::int64_t Arrived(TimePoint time) const;
  std::optional<TimePoint> TimeOf(std::int64_t count) const;

 private:
  std::vector<Duration> times_;  // at the playback speed
  Duration length_;              // of one repetition
};

// Arrival times of a stream from an external source, since the stream's start.
class ArrivalTimes {
 public:
  virtual ~ArrivalTimes() = default;
  virtual std::int64_t Arrived(TimePoint time) = 0;
  virtual std::optional<TimePoint> TimeOf(std::int64_t count) = 0;
};

// When the samples of a stream arrive (chosen rate, recording or external source): a function of time alone.
class Arrivals {
 public:
  Arrivals(RateProgramme programme) : schedule_(std::move(programme)) {}  // NOLINT: implicit on purpose
  Arrivals(RecordedTimes times) : schedule_(std::move(times)) {}          // NOLINT: likewise
  Arrivals(std::shared_ptr<ArrivalTimes> times) : schedule_(Known{std::move(times)}) {}  // NOLINT: likewise

  // The number of samples that arrived within `time` of the start. Never decreases.
  std::int64_t Arrived(TimePoint time) const {
    return std::visit([&](const auto& schedule) { return schedule.Arrived(time); }, schedule_);
  }
  // The time at which `count` samples have arrived; nullopt if never or after more than thirty years.
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
