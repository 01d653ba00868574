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

// Random changes to a training sample that keep its class. The default is none.
struct AugmentOptions {
  // Mirror horizontally with probability 1/2.
  bool flip = false;
  // Shift by up to this number of pixels in each direction, all offsets equally likely (random crop with
  // padding). The border is zero after normalisation, the mean colour. At least 0.
  int padding = 0;
};

// Mirrors, then shifts one normalised sample in place. The number of draws depends only on the options, so
// the random stream is the same for any samples.
void Augment(const AugmentOptions& options, const Shape& shape, Rng& rng, std::span<float> sample);

// A device's sample order in an epoch: a random permutation of 0 … samples − 1, given by the arguments.
std::vector<std::uint32_t> EpochOrder(std::size_t samples, std::uint64_t seed, DeviceId device,
                                      std::uint64_t epoch);

// Sample after sample, channel by channel, row by row; one label per sample.
struct Batch {
  std::vector<float> inputs;
  std::vector<std::int32_t> labels;
};

// Identifies a batch of a run. Its augmentation depends only on the key.
struct BatchKey {
  std::uint64_t seed = 0;
  DeviceId device;
  std::uint64_t step = 0;
};

// Fills `out` with these samples, normalised and augmented. Reuses its memory.
void GatherBatch(const Dataset& dataset, std::span<const std::uint32_t> indices,
                 const AugmentOptions& augment, const BatchKey& key, Batch& out);

}  // namespace tributary::inline data
