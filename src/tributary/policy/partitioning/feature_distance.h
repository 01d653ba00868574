#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tributary/base/parallel_for.h"
#include "tributary/policy/partitioning/features.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary::inline policy {

// How far each worker's shard is from the whole in feature space: the maximum mean discrepancy, its biased estimate and
// not its square, under the Gaussian kernel exp(−distance² / (2 · width²)) whose width is the median distance between
// all samples (or between 4,096 of them, drawn by the seed). 0 where a shard looks exactly like the whole; about
// √((1 − mean similarity) / size) for a random one; below √2 always.
struct FeatureDistance {
  std::vector<double> distance;  // Of each worker; 0 for one without samples.
  double width = 0;
  // Over how many samples it was taken: all, or fewer where there are more than were asked for.
  std::size_t samples = 0;
};

// Exact over all pairs, in blocks: takes a copy of the features and no more. Where there are more than `most` samples
// (0: never too many), the same share of every shard is drawn by the seed, at least one; distances of smaller shards
// are larger, so they compare with those of the same number of samples only.
//
// The features have been checked, and the partition holds each of their samples once. The same to the bit however
// `parallel` runs things.
FeatureDistance MeasureFeatureDistance(const Features& features, const Partition& partition, std::size_t most,
                                       std::uint64_t seed, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary::inline policy
