#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tributary/policy/compression/parallel_for.h"

namespace tributary {

// Where the k largest magnitudes end: all with a larger key (MagnitudeKey) belong to them, and so many of those with
// this very key as are still missing.
struct Threshold {
  std::int32_t key = 0;
  std::size_t ties = 0;  // of `key`; at least one
  friend bool operator==(const Threshold&, const Threshold&) = default;
};

// Exact, by three histograms: over the eleven upper bits of the keys, then over the next ten of those that share them
// with the k-th, then over the last ten. `parts` together hold at least k values, and k is not zero.
Threshold FindThreshold(std::span<const std::span<const float>> parts, std::size_t k,
                        const ParallelFor& parallel = RunInOrder);

}  // namespace tributary
