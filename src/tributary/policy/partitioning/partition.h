#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/base/status.h"

namespace tributary {

// Who holds which samples: for each device the indices of its samples, ascending. Every split of this folder
// places every sample on exactly one device.
using Partition = std::vector<std::vector<std::uint32_t>>;

// For each class the indices of its samples, ascending.
using SamplesByClass = std::vector<std::vector<std::uint32_t>>;

// Refuses labels outside [0, classes), naming the first, none at all, and more than can be counted.
Status CheckLabels(std::span<const std::int32_t> labels, int classes);

// Labels must have been checked.
SamplesByClass GroupByClass(std::span<const std::int32_t> labels, int classes);

// `total` cut into whole numbers in proportion to `shares` (not negative, not all zero) by largest remainder:
// each part is within one of its exact value, and they sum to `total`. Equal remainders favour the earlier
// part.
std::vector<std::size_t> DivideByShares(std::size_t total, std::span<const double> shares);

// `total` cut into `parts` whole numbers that differ by at most one, the larger ones first.
std::vector<std::size_t> DivideEvenly(std::size_t total, std::size_t parts);

// Gives counts[i] of `samples` to device holders[i], chosen at random. The counts must sum to the number of
// samples.
void Deal(std::span<const std::uint32_t> samples, std::span<const std::size_t> counts,
          std::span<const std::size_t> holders, Rng& rng, Partition& partition);

// Puts the indices of every device in ascending order. Each split ends with this.
void SortIndices(Partition& partition);

}  // namespace tributary
