#pragma once

#include <span>

#include "tributary/policy/mixing/topology.h"

namespace tributary {

// The Laplacian of a graph takes from each node's value those of its neighbours: (L·x)[i] = Σ over neighbours (x[i] −
// x[j]).

// out += weight · L · x.
inline void AddLaplacian(std::span<const Edge> edges, double weight, std::span<const double> x,
                         std::span<double> out) {
  for (const auto& [a, b] : edges) {
    const double flow = weight * (x[a] - x[b]);
    out[a] += flow;
    out[b] -= flow;
  }
}

// matrix += weight · L, row by row.
inline void AddLaplacian(std::span<const Edge> edges, double weight, std::span<double> matrix,
                         std::size_t nodes) {
  for (const auto& [a, b] : edges) {
    matrix[a * nodes + a] += weight;
    matrix[b * nodes + b] += weight;
    matrix[a * nodes + b] -= weight;
    matrix[b * nodes + a] -= weight;
  }
}

}  // namespace tributary
