#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/ids.h"
#include "tributary/base/rng.h"
#include "tributary/data/dataset.h"
#include "tributary/model/operation.h"

namespace tributary::inline data {

// Random changes to a training sample that keep its class. None by default.
struct AugmentOptions {
  // Mirror left and right, one time in two.
  bool flip = false;
  // Move by up to this many pixels each way, every offset equally likely: the crop of an image padded by as
  // much. What moves in from outside is zero after normalisation, that is, the mean colour. At least 0.
  int padding = 0;
};

// Changes one normalised sample in place: mirrors first, then moves. What is drawn depends on the options
// alone, so a stream stays in step whatever the samples are.
void Augment(const AugmentOptions& options, const Shape& shape, Rng& rng, std::span<float> sample);

// The order in which a device goes through its `samples` in one epoch: a random permutation of 0 … samples −
// 1, a function of the arguments alone.
std::vector<std::uint32_t> EpochOrder(std::size_t samples, std::uint64_t seed, DeviceId device,
                                      std::uint64_t epoch);

// Inputs sample after sample, each channel by channel and row by row; one label per sample.
struct Batch {
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
};

// Where a batch stands in a run. Its augmentation is a function of this, so it is the same on whichever
// thread and after whatever other batches it is made.
struct BatchKey {
  std::uint64_t seed = 0;
  DeviceId device;
  std::uint64_t step = 0;
};

// Fills `out` with these samples, normalised and augmented. Memory that `out` already has is used again.
void GatherBatch(const Dataset& dataset, std::span<const std::uint32_t> indices,
                 const AugmentOptions& augment, const BatchKey& key, Batch& out);

}  // namespace tributary::inline data
