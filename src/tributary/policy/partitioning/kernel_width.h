#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/policy/compression/parallel_for.h"
#include "tributary/policy/partitioning/features.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// The width of a Gaussian kernel, exp(−distance² / (2 · width²)), by the median heuristic: the median of the L2
// distances between all pairs of different samples (the mean of the middle two where their number is even). Where more
// than half of the pairs are equals, the median of the other pairs; 1 where all are equal or there is but one sample.
// Of more than `most` samples as many are drawn by the given stream: two thousand have two million pairs, whose median
// differs from that of all by a few thousandths.
double MedianDistance(const Features& features, std::span<const std::uint32_t> samples, std::size_t most,
                      Rng rng);

// For each class the width that is given or, where none is, the median distance of its samples, 2,048 of them at most;
// 0 for a class without samples.
std::vector<double> ClassWidths(const Features& features, const SamplesByClass& classes,
                                std::optional<double> width, std::uint64_t seed,
                                const ParallelFor& parallel = RunInOrder);

// What a squared distance is multiplied with in the exponent.
float KernelFactor(double width);

}  // namespace tributary
