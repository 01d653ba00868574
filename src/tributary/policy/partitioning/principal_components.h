#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tributary/base/parallel_for.h"

namespace tributary::inline policy {

// Reads samples one at a time, so that they need not be in memory as floats. `read` must be thread-safe.
struct SampleReader {
  std::size_t samples = 0;
  std::size_t dimensions = 0;
  std::function<void(std::size_t sample, std::span<float> row)> read;
};

struct PrincipalComponents {
  // One row of `components` values per sample: its coordinates along each direction.
  std::vector<float> projected;
  std::size_t components = 0;
  std::vector<double> variances;  // of the samples along each direction, descending
  double total_variance = 0;      // of the samples along all dimensions
};

// The `components` directions of largest variance, by randomised subspace iteration: 16 more random
// directions than wanted are multiplied by the covariance (never formed) and orthonormalised, six times, then
// rotated to its axes. Well separated directions are exact to rounding; among nearly equal ones, the retained
// variance is within a few thousandths of the maximum. The largest entry of every direction is positive.
//
// `components` is from 1 to the number of dimensions. Bit-identical for any `parallel`. Memory: the
// projections, and per part of the samples two matrices of dimensions × directions.
PrincipalComponents FindPrincipalComponents(const SampleReader& reader, std::size_t components,
                                            std::uint64_t seed, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary::inline policy
