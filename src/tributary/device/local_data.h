#pragma once

#include <cstdint>
#include <vector>

#include "tributary/data/batches.h"
#include "tributary/data/dataset.h"
#include "tributary/data/replay_stream.h"
#include "tributary/fleet/assignment.h"

namespace tributary::inline device {

// The samples of one device, for training and held out for evaluation, as indices into a data set. Simulated
// devices share the data set; a real device has its own.
struct LocalData {
  const Dataset* dataset = nullptr;
  std::vector<std::uint32_t> training;
  std::vector<std::uint32_t> held_out;
};

// The samples first … first + count − 1 of a data set.
std::vector<std::uint32_t> SampleRange(std::size_t first, std::size_t count);

// Number of training samples per class.
std::vector<std::int64_t> ClassCounts(const LocalData& data);

// Number of batches of `size` per epoch. The last batch of an epoch may be smaller.
std::uint64_t StepsPerEpoch(const LocalData& data, std::size_t size);

// The steps of an assignment, counted over the whole run, even if the device was not there before.
struct StepRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
StepRange StepsOf(const TrainAssignment& assignment, const LocalData& data);

// The number of samples in these steps.
struct SampleCounts {
  std::int64_t all = 0;
  std::int64_t first = 0;  // in the first step
  std::int64_t last = 0;   // in the last step
};
SampleCounts SamplesOf(const TrainAssignment& assignment, const LocalData& data);

// The mini-batch of a step, as indices into the data set: shuffled epochs, cut into runs of `size`. Depends
// on the arguments only, so devices keep no position. The device must have training samples.
std::vector<std::uint32_t> BatchSamples(const LocalData& data, std::size_t size, const BatchKey& key);
void ReadBatch(const LocalData& data, std::size_t size, const BatchKey& key, const AugmentOptions& augment,
               Batch& batch);

// The same for a stream of the device's training samples (data/replay_stream.h): positions first … first +
// count − 1. `order` is that of the training samples.
std::vector<std::uint32_t> StreamSamples(const LocalData& data, ReplayOrder& order, std::int64_t first,
                                         std::size_t count);
void ReadStream(const LocalData& data, ReplayOrder& order, std::int64_t first, std::size_t count,
                const BatchKey& key, const AugmentOptions& augment, Batch& batch);

}  // namespace tributary::inline device
