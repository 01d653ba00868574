#pragma once

#include <memory>
#include <span>
#include <vector>

#include "tributary/base/ids.h"
#include "tributary/data/arrivals.h"
#include "tributary/data/dataset.h"
#include "tributary/data/stream.h"

namespace tributary::inline data {

// Which of `samples` samples the one at `position` of an endless stream over them is.
class ReplayOrder {
 public:
  // In a new random order each time through.
  ReplayOrder(std::size_t samples, std::uint64_t seed, DeviceId device);
  // In this order each time: that of a recording. Not empty.
  explicit ReplayOrder(std::vector<std::uint32_t> order);
  std::size_t At(std::int64_t position);

 private:
  const std::size_t samples_;
  const std::uint64_t seed_;
  const DeviceId device_;
  const bool shuffles_;
  std::uint64_t epoch_ = 0;
  std::vector<std::uint32_t> order_;  // Of that epoch; empty before the first.
};

// How samples that are there already are made to arrive: when, and in which order.
struct Playback {
  Arrivals arrivals;
  ReplayOrder order;
};
// At a rate, in a new random order each time through.
Playback PlayAtRate(RateProgramme programme, std::size_t samples, std::uint64_t seed, DeviceId device);
// When they were recorded, `speed` times as fast. Of samples that say when that was (Dataset::origins), and some.
Playback PlayAsRecorded(const Dataset& dataset, std::span<const std::uint32_t> part, double speed);

struct ReplayOptions {
  TimePoint start{0};  // Of the playback, on the clock that Poll is given the time of.
  // Length of the stream in samples; 0: endless.
  std::int64_t total = 0;
};

// A data set that arrives over time, as if somebody produced it: the stream of the simulator, and of a device without a
// broker. What has arrived by a moment, and what it is, follows from the options and the time alone; so it can be sought
// anywhere, and Poll never waits. Positions count from 0. `part` holds the device's indices into the data set; not empty.
std::unique_ptr<Stream> MakeReplayStream(std::shared_ptr<const Dataset> dataset,
                                         std::vector<std::uint32_t> part, Playback playback,
                                         const ReplayOptions& options = {});

}  // namespace tributary::inline data
