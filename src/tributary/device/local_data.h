#pragma once

#include <cstdint>
#include <vector>

#include "tributary/data/batches.h"
#include "tributary/data/dataset.h"
#include "tributary/data/replay_stream.h"
#include "tributary/fleet/assignment.h"

namespace tributary::inline device {

// The samples that one device has: some for training, some held out to measure on. They are indices into a data set,
// which simulated devices share and a real device has to itself.
struct LocalData {
  const Dataset* dataset = nullptr;
  std::vector<std::uint32_t> training;
  std::vector<std::uint32_t> held_out;
};

// How many training samples it has of each class of its data set.
std::vector<std::int64_t> ClassCounts(const LocalData& data);

// How many batches of `size` make one pass over a device's training samples. The last may be shorter than the others.
std::uint64_t StepsPerEpoch(const LocalData& data, std::size_t size);

// The steps that an assignment asks of this device, counted over the whole run: the same for a device that was always
// there and for one that comes back.
struct StepRange {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};
StepRange StepsOf(const TrainAssignment& assignment, const LocalData& data);

// The samples of those steps: what an assignment costs.
struct SampleCounts {
  std::int64_t all = 0;
  std::int64_t first = 0;  // in the first step
  std::int64_t last = 0;   // in the last
};
SampleCounts SamplesOf(const TrainAssignment& assignment, const LocalData& data);

// The mini-batch that a device reads at a step, as indices into the data set: epochs in shuffled order, each cut into runs of
// `size`. A function of the arguments alone, so a device needs no memory of where it was. The device must have
// training samples.
std::vector<std::uint32_t> BatchSamples(const LocalData& data, std::size_t size, const BatchKey& key);
// Fills `batch` with them.
void ReadBatch(const LocalData& data, std::size_t size, const BatchKey& key, const AugmentOptions& augment,
               Batch& batch);

// The same from a stream of the device's training samples (data/replay_stream.h): those at positions first … first +
// count − 1. `order` is that of the device's training samples.
std::vector<std::uint32_t> StreamSamples(const LocalData& data, ReplayOrder& order, std::int64_t first,
                                         std::size_t count);
void ReadStream(const LocalData& data, ReplayOrder& order, std::int64_t first, std::size_t count,
                const BatchKey& key, const AugmentOptions& augment, Batch& batch);

}  // namespace tributary::inline device
