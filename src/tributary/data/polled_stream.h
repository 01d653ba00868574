#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "tributary/data/arrivals.h"
#include "tributary/data/record.h"
#include "tributary/data/stream.h"

namespace tributary::inline data {

// A stream on a virtual clock, looked into ahead of time: when its samples will arrive, and what they are. They are counted
// from 0, whatever their positions. A sample arrives when it says it was produced, but never before an earlier one.
//
// What has arrived is held until it is forgotten. When that passes `most`, no more is looked for than somebody waits for: the
// rest stays in the stream, and counts as arrived once there is room. For one thread.
class PolledStream : public ArrivalTimes {
 public:
  PolledStream(std::unique_ptr<Stream> stream, SampleFormat format, Bytes most = {1'000'000'000});

  std::int64_t Arrived(TimePoint time) override;
  std::optional<TimePoint> TimeOf(std::int64_t count) override;

  // Of these, which have arrived and are not forgotten, as a data set.
  StatusOr<Dataset> Samples(std::int64_t first, std::size_t count, const Normalisation& normalisation) const;
  void Forget(std::int64_t below);

  // What was wrong with the first sample that does not fit. From then on nothing arrives.
  const Status& status() const { return status_; }

 private:
  void PollOnce(TimePoint time, std::size_t samples);

  const std::unique_ptr<Stream> stream_;
  const SampleFormat format_;
  const Bytes most_;
  Status status_;
  TimePoint polled_{0};
  std::deque<StreamSample> held_;  // `produced` is when they arrive
  Bytes held_bytes_{0};
  std::int64_t forgotten_ = 0;  // how many came before those
  TimePoint newest_{0};         // when the last one arrives
  std::vector<StreamSample> news_;
};

}  // namespace tributary::inline data
