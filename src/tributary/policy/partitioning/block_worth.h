#pragma once

#include <span>
#include <vector>

#include "tributary/policy/compression/parallel_for.h"
#include "tributary/policy/partitioning/features.h"
#include "tributary/policy/partitioning/objective.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary {

// What each worker's samples are worth under an objective, summed over the classes, however they were chosen. For
// matched-cut, a block's share of its class is what it holds. widths[c] is that of the kernel of class c. Takes a copy
// of the features and no more.
std::vector<double> MeasureWorth(const Features& features, std::span<const std::int32_t> labels,
                                 const Partition& partition, PartitionObjective objective,
                                 std::span<const double> widths, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary
