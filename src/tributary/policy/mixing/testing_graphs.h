#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <utility>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/base/symmetric_eigen.h"
#include "tributary/policy/mixing/topology.h"

namespace tributary::inline policy {

using Dense = std::vector<std::vector<double>>;

inline Topology Graph(TopologyKind kind, std::size_t nodes, double probability = 0.5,
                      std::uint64_t seed = 1) {
  TopologyOptions options;
  options.kind = kind;
  options.probability = probability;
  auto made = MakeTopology(options, nodes, seed);
  EXPECT_TRUE(made.ok()) << made.status();
  return std::move(made).value();
}

inline Topology GraphOf(std::size_t nodes, std::vector<Edge> edges) {
  TopologyOptions options;
  options.kind = TopologyKind::kEdges;
  options.edges = std::move(edges);
  auto made = MakeTopology(options, nodes, 1);
  EXPECT_TRUE(made.ok()) << made.status();
  return std::move(made).value();
}

// Any graph, connected or not: every pair by itself.
inline Topology AnyGraph(Rng& rng, std::size_t nodes, double probability) {
  Topology graph{nodes, {}};
  for (std::uint32_t a = 0; a < nodes; ++a) {
    for (std::uint32_t b = a + 1; b < nodes; ++b) {
      if (rng.Uniform() < probability) graph.edges.emplace_back(a, b);
    }
  }
  return graph;
}

// Rows with their diagonal.
inline Dense DenseOf(const std::vector<std::vector<Neighbour>>& rows) {
  Dense dense(rows.size(), std::vector<double>(rows.size(), 0));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    for (const auto& [node, weight] : rows[i]) dense[i][node] += weight;
    dense[i][i] += SelfWeight(rows[i]);
  }
  return dense;
}

// Σ weights[j] · Laplacian of parts[j], from its definition: neighbours counted on the diagonal, −1 for each edge.
inline Dense DenseLaplacian(const std::vector<std::vector<Edge>>& parts, const std::vector<double>& weights,
                            std::size_t nodes) {
  Dense dense(nodes, std::vector<double>(nodes, 0));
  for (std::size_t j = 0; j < parts.size(); ++j) {
    for (const auto& [a, b] : parts[j]) {
      dense[a][b] -= weights[j];
      dense[b][a] -= weights[j];
      dense[a][a] += weights[j];
      dense[b][b] += weights[j];
    }
  }
  return dense;
}

// Descending.
inline std::vector<double> EigenvaluesOf(const Dense& dense) {
  std::vector<double> flat;
  for (const auto& row : dense) flat.insert(flat.end(), row.begin(), row.end());
  return SolveSymmetricEigen(flat, dense.size()).values;
}

inline double SecondSmallest(const Dense& dense) { return EigenvaluesOf(dense)[dense.size() - 2]; }

// The largest magnitude of an eigenvalue of `dense` less the matrix that takes the mean.
inline double NormWithoutMean(Dense dense) {
  for (auto& row : dense) {
    for (double& entry : row) entry -= 1 / static_cast<double>(dense.size());
  }
  const std::vector<double> values = EigenvaluesOf(dense);
  return std::max(std::abs(values.front()), std::abs(values.back()));
}

}  // namespace tributary::inline policy
