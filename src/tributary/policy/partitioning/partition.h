#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/base/status.h"

namespace tributary::inline policy {

// The sample indices of each device, ascending. The splits here place every sample on exactly one device.
using Partition = std::vector<std::vector<std::uint32_t>>;

// The sample indices of each class, ascending.
using SamplesByClass = std::vector<std::vector<std::uint32_t>>;

// Refuses labels outside [0, classes), naming the first, no labels, and too many labels.
Status CheckLabels(std::span<const std::int32_t> labels, int classes);

// Labels must have been checked.
SamplesByClass GroupByClass(std::span<const std::int32_t> labels, int classes);

// Gives counts[i] random samples to device holders[i]. The counts must sum to the number of samples.
void Deal(std::span<const std::uint32_t> samples, std::span<const std::size_t> counts,
          std::span<const std::size_t> holders, Rng& rng, Partition& partition);

// Sorts the indices of every device. Each split ends with this.
Partition WithSortedIndices(Partition partition);

// The number of samples per device and class: counts[device][class].
std::vector<std::vector<std::int64_t>> CountClasses(const Partition& partition,
                                                    std::span<const std::int32_t> labels, int classes);

// Label skew of devices: the L1 distance of a device's class shares from those of all samples, from 0 (alike)
// to 2 (disjoint), averaged over the devices that have samples.
double MeanSkew(const std::vector<std::vector<std::int64_t>>& counts);

// Refuses speeds that are not finite and above 0, no speeds, more speeds than samples, and a speed so low
// that its worker would get no sample. Names the first bad one.
Status CheckSpeeds(std::span<const double> speeds, std::size_t samples);

// Quotas of each class in proportion to speed: quotas[class][worker]. The speeds must have been checked.
//
//   - The quotas of a class sum to its size, and each quota is its exact share rounded down or up.
//   - Each worker's total is its largest-remainder share of all samples.
//
// Largest remainders per class alone would give the odd samples of every class to the same workers. So odd
// samples are then moved from workers with too many in total to workers with too few, along chains of classes
// where needed. If a class has fewer samples than workers, some workers get none of it.
std::vector<std::vector<std::size_t>> SpeedQuotas(std::span<const std::size_t> class_sizes,
                                                  std::span<const double> speeds);

}  // namespace tributary::inline policy
