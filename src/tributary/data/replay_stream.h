#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tributary/base/ids.h"
#include "tributary/data/arrivals.h"
#include "tributary/data/dataset.h"
#include "tributary/data/stream.h"

namespace tributary::inline data {

// Maps positions of an endless stream to indices of its samples.
class ReplayOrder {
 public:
  // A new random order in each epoch.
  ReplayOrder(std::size_t samples, std::uint64_t seed, DeviceId device);
  // This order in each epoch, as for a recording. Not empty.
  explicit ReplayOrder(std::vector<std::uint32_t> order);
  std::size_t At(std::int64_t position);

 private:
  const std::size_t samples_;
  const std::uint64_t seed_;
  const DeviceId device_;
  const bool shuffles_;
  std::uint64_t epoch_ = 0;
  std::vector<std::uint32_t> order_;  // of that epoch; empty before the first
};

// When and in which order existing samples arrive.
struct Playback {
  Arrivals arrivals;
  ReplayOrder order;
};
// At a rate, in a new random order each epoch.
Playback PlayAtRate(RateProgramme programme, std::size_t samples, std::uint64_t seed, DeviceId device);
// As recorded, at `speed` times the speed. Requires Dataset::origins and a non-empty `part`.
Playback PlayAsRecorded(const Dataset& dataset, std::span<const std::uint32_t> part, double speed);

struct ReplayOptions {
  TimePoint start{0};      // of the playback, on the clock of Poll
  std::int64_t total = 0;  // length of the stream in samples; 0: endless
};

// A data set that arrives over time: the stream of the simulator, and of a device without a broker. Arrivals
// are a function of the options and time alone, so the stream can seek anywhere, and Poll never waits.
// Positions count from 0. `part` holds the device's indices into the data set; not empty.
std::unique_ptr<Stream> MakeReplayStream(std::shared_ptr<const Dataset> dataset,
                                         std::vector<std::uint32_t> part, Playback playback,
                                         const ReplayOptions& options = {});

}  // namespace tributary::inline data
