#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/base/status.h"

namespace tributary::inline policy {

// Who holds which samples: for each device the indices of its samples, ascending. Every split of this folder
// places every sample on exactly one device.
using Partition = std::vector<std::vector<std::uint32_t>>;

// For each class the indices of its samples, ascending.
using SamplesByClass = std::vector<std::vector<std::uint32_t>>;

// Refuses labels outside [0, classes), naming the first, none at all, and more than can be counted.
Status CheckLabels(std::span<const std::int32_t> labels, int classes);

// Labels must have been checked.
SamplesByClass GroupByClass(std::span<const std::int32_t> labels, int classes);

// Gives counts[i] of `samples` to device holders[i], chosen at random. The counts must sum to the number of
// samples.
void Deal(std::span<const std::uint32_t> samples, std::span<const std::size_t> counts,
          std::span<const std::size_t> holders, Rng& rng, Partition& partition);

// With the indices of every device in ascending order. Each split ends with this.
Partition WithSortedIndices(Partition partition);

// How many samples of each class every device has: counts[device][class].
std::vector<std::vector<std::int64_t>> CountClasses(const Partition& partition,
                                                    std::span<const std::int32_t> labels, int classes);

// How unlike the whole the devices are: the L1 distance of a device's class shares to those of all samples, from 0
// (alike) to 2 (nothing in common), averaged over the devices that have samples.
double MeanSkew(const std::vector<std::vector<std::int64_t>>& counts);

// Refuses speeds that are not finite numbers above 0, none at all, more of them than samples, and one so low that its
// worker would get no sample. The first bad one is named.
Status CheckSpeeds(std::span<const double> speeds, std::size_t samples);

// How many samples of each class every worker gets, in proportion to speed: quotas[class][worker]. `class_sizes` are
// the samples of each class; the speeds have been checked.
//
//   - Each class is given out to the last sample, and each quota is its exact share rounded down or up.
//   - Each worker's total is the largest-remainder share of all samples: also its exact share, rounded down or up.
//
// Class by class alone, the largest remainder would hand the odd samples of every class to the same workers. So the odd
// samples of each class go first by largest remainder, and then from workers that have too many in total to those that
// have too few, along chains of classes where needed, until the totals agree. Where a class has fewer samples than
// workers, some get none of it.
std::vector<std::vector<std::size_t>> SpeedQuotas(std::span<const std::size_t> class_sizes,
                                                  std::span<const double> speeds);

}  // namespace tributary::inline policy
