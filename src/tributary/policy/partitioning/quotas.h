#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tributary/base/status.h"

namespace tributary::inline policy {

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
