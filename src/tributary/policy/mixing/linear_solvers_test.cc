#include "tributary/policy/mixing/linear_solvers.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/policy/mixing/testing_graphs.h"
#include "tributary/policy/mixing/topology.h"

namespace tributary::inline policy {
namespace {

std::vector<double> RandomPositive(Rng& rng, std::size_t size) {
  std::vector<double> root(size * size), matrix(size * size, 0);
  for (double& entry : root) entry = Normal(rng);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t j = 0; j < size; ++j) {
      for (std::size_t k = 0; k < size; ++k) matrix[i * size + j] += root[i * size + k] * root[j * size + k];
    }
    matrix[i * size + i] += 0.1;
  }
  return matrix;
}

TEST(Cholesky, SolvesAndInverts) {
  Rng rng(1);
  for (const std::size_t size : {1U, 2U, 5U, 30U}) {
    const std::vector<double> matrix = RandomPositive(rng, size);
    const auto factor = Cholesky::Of(matrix, size);
    ASSERT_TRUE(factor.has_value());
    double logs = 0;
    for (const double value : SolveSymmetricEigen(matrix, size).values) logs += std::log(value);
    EXPECT_NEAR(factor->log_determinant(), logs, 1e-9);

    const std::vector<double> inverse = factor->Inverse();
    std::vector<double> right(size);
    for (double& entry : right) entry = Normal(rng);
    const std::vector<double> x = factor->Solve(right);
    for (std::size_t i = 0; i < size; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < size; ++j) {
        sum += matrix[i * size + j] * x[j];
        double product = 0;
        for (std::size_t k = 0; k < size; ++k) product += matrix[i * size + k] * inverse[k * size + j];
        EXPECT_NEAR(product, i == j ? 1 : 0, 1e-9);
      }
      EXPECT_NEAR(sum, right[i], 1e-9);
    }
  }
}

TEST(Cholesky, RefusesWhatIsNotPositive) {
  EXPECT_FALSE(Cholesky::Of({1, 2, 2, 1}, 2));
  EXPECT_FALSE(Cholesky::Of({0}, 1));
  EXPECT_FALSE(Cholesky::Of({std::nan("")}, 1));
  EXPECT_TRUE(Cholesky::Of({2, 1, 1, 2}, 2));
}

TEST(TopEigenpair, IsThatOfTheWholeMatrix) {
  Rng rng(2);
  for (const std::size_t size : {1U, 2U, 20U, 48U, 49U, 90U}) {
    std::vector<double> matrix(size * size);
    for (std::size_t i = 0; i < size; ++i) {
      for (std::size_t k = 0; k <= i; ++k) matrix[i * size + k] = matrix[k * size + i] = Normal(rng);
    }
    const Eigenpair top = TopEigenpair(size, [&](std::span<const double> x, std::span<double> out) {
      for (std::size_t i = 0; i < size; ++i) {
        for (std::size_t k = 0; k < size; ++k) out[i] += matrix[i * size + k] * x[k];
      }
    });
    EXPECT_NEAR(top.value, SolveSymmetricEigen(matrix, size).values[0], 1e-9);
    double length = 0;
    for (std::size_t i = 0; i < size; ++i) {
      double product = 0;
      for (std::size_t k = 0; k < size; ++k) product += matrix[i * size + k] * top.vector[k];
      EXPECT_NEAR(product, top.value * top.vector[i], 1e-8);
      length += top.vector[i] * top.vector[i];
    }
    EXPECT_NEAR(length, 1, 1e-12);
  }
}

TEST(TopEigenpair, IsFoundAmongNeighboursThatAreClose) {
  // A path of n nodes: 2 − 2·cos(π·k/n). At the lower end, neighbours are 1e-4 apart.
  const std::size_t nodes = 300;
  std::vector<Edge> path;
  for (std::uint32_t i = 0; i + 1 < nodes; ++i) path.emplace_back(i, i + 1);
  const Eigenpair high = TopEigenpair(nodes, [&](auto x, auto out) { AddLaplacian(path, 1, x, out); });
  EXPECT_NEAR(high.value, 2 + 2 * std::cos(M_PI / nodes), 1e-10);
  const Eigenpair low = TopEigenpair(nodes, [&](auto x, auto out) { AddLaplacian(path, -1, x, out); });
  EXPECT_NEAR(low.value, 0, 1e-10);
}

TEST(TopEigenpair, ComesToAnEndWhereFewValuesDiffer) {
  const std::vector<Edge> all = Graph(TopologyKind::kComplete, 60).edges;
  EXPECT_NEAR(TopEigenpair(60, [&](auto x, auto out) { AddLaplacian(all, 1, x, out); }).value, 60, 1e-9);
  EXPECT_EQ(TopEigenpair(60, [](auto, auto) {}).value, 0);
}

}  // namespace
}  // namespace tributary::inline policy
