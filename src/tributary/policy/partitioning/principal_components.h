#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tributary/base/parallel_for.h"

namespace tributary::inline policy {

// Samples that are read one at a time, so that a large set need not be in memory as floats. `read` fills
// `dimensions` values; it is called for any sample in any order, on several threads at once.
struct SampleReader {
  std::size_t samples = 0;
  std::size_t dimensions = 0;
  std::function<void(std::size_t sample, std::span<float> row)> read;
};

struct PrincipalComponents {
  std::vector<float>
      projected;  // One row of `components` values for each sample: its place along each direction.
  std::size_t components = 0;
  std::vector<double> variances;  // Of the samples along each direction, descending.
  double total_variance = 0;      // Of the samples along all directions there are.
};

// The `components` directions in which the samples vary most, by subspace iteration: directions drawn by the seed, 16
// more than are wanted, are multiplied by the covariance (never formed) and made orthogonal, six times over, and turned
// to its axes. Directions that stand out are exact to rounding; where many are nearly alike, what is kept of the
// variance is within a few thousandths of the most possible. Every direction points so that its largest entry is
// positive.
//
// `components` is from 1 to the number of dimensions. The same to the bit however `parallel` runs things. Takes the
// projections, and per part of the samples two matrices of dimensions times directions.
PrincipalComponents FindPrincipalComponents(const SampleReader& reader, std::size_t components,
                                            std::uint64_t seed, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary::inline policy
