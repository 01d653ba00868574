#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "tributary/base/parallel_for.h"
#include "tributary/policy/partitioning/features.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary::inline policy {

// Distance of each worker's shard from all samples in feature space: the maximum mean discrepancy (root of
// the biased estimate) with the Gaussian kernel exp(−distance² / (2 · width²)). The width is the median
// distance between all samples, or between 4,096 of them drawn by the seed. 0 for a shard distributed exactly
// like all samples; about √((1 − mean similarity) / size) for a random shard; always below √2.
struct FeatureDistance {
  std::vector<double> distance;  // per worker; 0 without samples
  double width = 0;
  // Number of samples used: all, or a subset if there are too many.
  std::size_t samples = 0;
};

// Exact over all pairs, in blocks; needs a copy of the features. If there are more than `most` samples (0: no
// limit), the same fraction of every shard is drawn by the seed, at least one sample. Distances grow as
// shards shrink, so compare only distances of the same number of samples.
//
// The features must have been checked; the partition must be complete. Bit-identical for any `parallel`.
FeatureDistance MeasureFeatureDistance(const Features& features, const Partition& partition, std::size_t most,
                                       std::uint64_t seed, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary::inline policy
