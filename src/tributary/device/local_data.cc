#include "tributary/device/local_data.h"

#include <algorithm>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary::inline device {
namespace {

struct BatchPlace {
  std::uint64_t epoch;
  std::size_t begin;
  std::size_t count;
};

BatchPlace PlaceOf(const LocalData& data, std::size_t size, std::uint64_t step) {
  const std::uint64_t batches = StepsPerEpoch(data, size);
  TRIBUTARY_CHECK(batches > 0);
  const auto begin = static_cast<std::size_t>(step % batches) * size;
  return {step / batches, begin, std::min(size, data.training.size() - begin)};
}

}  // namespace

std::vector<std::uint32_t> SampleRange(std::size_t first, std::size_t count) {
  std::vector<std::uint32_t> samples(count);
  std::iota(samples.begin(), samples.end(), static_cast<std::uint32_t>(first));
  return samples;
}

std::vector<std::int64_t> ClassCounts(const LocalData& data) {
  std::vector<std::int64_t> counts(static_cast<std::size_t>(data.dataset->classes()));
  for (const std::uint32_t sample : data.training)
    ++counts[static_cast<std::size_t>(data.dataset->label(sample))];
  return counts;
}

std::uint64_t StepsPerEpoch(const LocalData& data, std::size_t size) {
  TRIBUTARY_CHECK(size > 0);
  return (data.training.size() + size - 1) / size;
}

StepRange StepsOf(const TrainAssignment& assignment, const LocalData& data) {
  const std::uint64_t count = assignment.epochs > 0 ? static_cast<std::uint64_t>(assignment.epochs) *
                                                          StepsPerEpoch(data, assignment.batch)
                                                    : static_cast<std::uint64_t>(assignment.steps);
  return {(assignment.round.value - 1) * count, count};
}

SampleCounts SamplesOf(const TrainAssignment& assignment, const LocalData& data) {
  SampleCounts samples;
  if (data.training.empty()) return samples;
  const StepRange steps = StepsOf(assignment, data);
  for (std::uint64_t i = 0; i < steps.count; ++i) {
    samples.last =
        static_cast<std::int64_t>(SamplesAt(assignment, static_cast<std::int64_t>(data.training.size()), i));
    if (i == 0) samples.first = samples.last;
    samples.all += samples.last;
  }
  return samples;
}

std::vector<std::uint32_t> BatchSamples(const LocalData& data, std::size_t size, const BatchKey& key) {
  const BatchPlace place = PlaceOf(data, size, key.step);
  const std::vector<std::uint32_t> order =
      EpochOrder(data.training.size(), key.seed, key.device, place.epoch);
  std::vector<std::uint32_t> indices;
  for (std::size_t i = 0; i < place.count; ++i) indices.push_back(data.training[order[place.begin + i]]);
  return indices;
}

void ReadBatch(const LocalData& data, std::size_t size, const BatchKey& key, const AugmentOptions& augment,
               Batch& batch) {
  GatherBatch(*data.dataset, BatchSamples(data, size, key), augment, key, batch);
}

std::vector<std::uint32_t> StreamSamples(const LocalData& data, ReplayOrder& order, std::int64_t first,
                                         std::size_t count) {
  std::vector<std::uint32_t> indices;
  for (std::size_t i = 0; i < count; ++i) {
    indices.push_back(data.training[order.At(first + static_cast<std::int64_t>(i))]);
  }
  return indices;
}

void ReadStream(const LocalData& data, ReplayOrder& order, std::int64_t first, std::size_t count,
                const BatchKey& key, const AugmentOptions& augment, Batch& batch) {
  GatherBatch(*data.dataset, StreamSamples(data, order, first, count), augment, key, batch);
}

}  // namespace tributary::inline device
