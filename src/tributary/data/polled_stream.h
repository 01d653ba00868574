#pragma once

#include <deque>
#include <memory>
#include <vector>

#include "tributary/data/arrivals.h"
#include "tributary/data/record.h"
#include "tributary/data/stream.h"

namespace tributary::inline data {

// A stream on a virtual clock, polled ahead of time to find when its samples arrive: at their `produced`
// time, but not before an earlier sample. Samples are counted from 0, whatever their positions.
//
// Arrived samples are held until Forget. Above `most` bytes only requested samples are polled; the others
// arrive once there is room. Not thread-safe.
class PolledStream : public ArrivalTimes {
 public:
  PolledStream(std::unique_ptr<Stream> stream, SampleFormat format, Bytes most = {1'000'000'000});

  std::int64_t Arrived(TimePoint time) override;
  std::optional<TimePoint> TimeOf(std::int64_t count) override;

  // A data set of these samples, which must have arrived and not been forgotten.
  StatusOr<Dataset> Samples(std::int64_t first, std::size_t count, const Normalisation& normalisation) const;
  void Forget(std::int64_t below);

  // The error of the first sample that does not fit. Nothing arrives after it.
  const Status& status() const { return status_; }

 private:
  void PollOnce(TimePoint time, std::size_t samples);

  const std::unique_ptr<Stream> stream_;
  const SampleFormat format_;
  const Bytes most_;
  Status status_;
  TimePoint polled_{0};
  std::deque<StreamSample> held_;  // `produced` is their arrival time.
  Bytes held_bytes_{0};
  std::int64_t forgotten_ = 0;  // number of samples before these
  TimePoint newest_{0};         // arrival time of the last sample
  std::vector<StreamSample> news_;
};

}  // namespace tributary::inline data
