#include "tributary/policy/mixing/metropolis.h"

#include <algorithm>

namespace tributary::inline policy {

std::vector<std::vector<Neighbour>> MetropolisWeights(const Topology& topology) {
  const std::vector<std::size_t> degrees = Degrees(topology);
  std::vector<std::vector<Neighbour>> rows(topology.nodes);
  // Edges are sorted, so that all smaller neighbours of a node come before the larger ones, both ascending.
  for (const auto& [a, b] : topology.edges) {
    const double weight = 1 / static_cast<double>(1 + std::max(degrees[a], degrees[b]));
    rows[a].push_back({b, weight});
    rows[b].push_back({a, weight});
  }
  return rows;
}

double SelfWeight(std::span<const Neighbour> row) {
  double self = 1;
  for (const Neighbour& neighbour : row) self -= neighbour.weight;
  return self;
}

}  // namespace tributary::inline policy
