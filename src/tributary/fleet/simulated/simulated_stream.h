#pragma once

#include <cstdint>
#include <optional>

#include "tributary/base/clock.h"
#include "tributary/data/arrivals.h"
#include "tributary/experiment/experiment.h"
#include "tributary/policy/streaming/stream_batch.h"

namespace tributary::inline simulated {

// A device's stream and its buffer on the virtual clock, as positions; data/replay_stream.h maps them to
// samples. The rate is estimated as a device would, by periodic observation.
class SimulatedStream {
 public:
  SimulatedStream(Arrivals arrivals, BufferPolicy policy) : arrivals_(std::move(arrivals)), policy_(policy) {}

  // When `count` unused samples are buffered; nothing if never.
  std::optional<TimePoint> Ready(std::int64_t count) const { return arrivals_.TimeOf(next_ + count); }
  // Takes `count` arrived samples, the oldest (`persist`) or newest (`truncate`). Returns the first position.
  std::int64_t Take(std::int64_t count, TimePoint now);

  void Observe(TimePoint now);
  std::optional<SamplesPerSecond> rate() const { return rate_.rate(); }
  // Number of buffered samples, if the next batch is as large as the last.
  std::int64_t Buffered(TimePoint now) const;
  std::int64_t dropped() const { return dropped_; }

 private:
  Arrivals arrivals_;
  BufferPolicy policy_;
  std::int64_t next_ = 0;      // first position that may still be used
  std::int64_t capacity_ = 0;  // with `truncate`
  std::int64_t dropped_ = 0;
  RateEstimate rate_;
  TimePoint seen_at_{0};
  std::int64_t seen_ = 0;
};

}  // namespace tributary::inline simulated
