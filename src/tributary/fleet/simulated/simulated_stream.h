#pragma once

#include <cstdint>
#include <optional>

#include "tributary/base/clock.h"
#include "tributary/data/arrivals.h"
#include "tributary/experiment/experiment.h"
#include "tributary/policy/streaming/stream_batch.h"

namespace tributary::inline simulated {

// A device's stream and its buffer on the virtual clock, as positions: which samples those are, data/replay_stream.h says.
// The rate is what a device would measure, by looking at it now and then.
class SimulatedStream {
 public:
  SimulatedStream(Arrivals arrivals, BufferPolicy policy) : arrivals_(std::move(arrivals)), policy_(policy) {}

  // When this many unused samples are buffered; nothing if never.
  std::optional<TimePoint> Ready(std::int64_t count) const { return arrivals_.TimeOf(next_ + count); }
  // Takes this many at a moment when they are there, and returns the position of the first. `persist` gives the oldest;
  // `truncate` has kept only the newest.
  std::int64_t Take(std::int64_t count, TimePoint now);

  // Looks at what has come.
  void Observe(TimePoint now);
  std::optional<SamplesPerSecond> rate() const { return rate_.rate(); }
  // What lies there, if the next batch is as large as the last.
  std::int64_t Buffered(TimePoint now) const;
  std::int64_t dropped() const { return dropped_; }

 private:
  Arrivals arrivals_;
  BufferPolicy policy_;
  std::int64_t next_ = 0;      // the first that may still be used
  std::int64_t capacity_ = 0;  // of a truncating buffer
  std::int64_t dropped_ = 0;
  RateEstimate rate_;
  TimePoint seen_at_{0};
  std::int64_t seen_ = 0;
};

}  // namespace tributary::inline simulated
