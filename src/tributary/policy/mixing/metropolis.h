#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/policy/mixing/topology.h"

namespace tributary::inline policy {

// What a node's new model takes from another's.
struct Neighbour {
  std::uint32_t node = 0;
  double weight = 0;

  friend bool operator==(const Neighbour&, const Neighbour&) = default;
};

// Mixing by Metropolis and Hastings: an edge weighs one over one more than the larger number of neighbours at its
// ends. Row i holds the neighbours of node i, ascending; the rest, SelfWeight, is its own. The matrix is symmetric,
// its rows and columns sum to one, and nothing in it is negative, so the mean of all models stays and, where the
// graph is connected, all come to it.
std::vector<std::vector<Neighbour>> MetropolisWeights(const Topology& topology);

// What a node keeps of its own: one less the weights of its row. A neighbour that is not there is left out of the
// row, which gives its weight to this. The mean stays only if both ends of an edge leave it out.
double SelfWeight(std::span<const Neighbour> row);

}  // namespace tributary::inline policy
