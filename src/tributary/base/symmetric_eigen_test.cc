#include "tributary/base/symmetric_eigen.h"

#include <gtest/gtest.h>

#include "tributary/base/distributions.h"

namespace tributary::inline base {
namespace {

std::vector<double> RandomSymmetric(Rng& rng, std::size_t size) {
  std::vector<double> matrix(size * size);
  for (std::size_t i = 0; i < size; ++i) {
    for (std::size_t k = 0; k <= i; ++k) matrix[i * size + k] = matrix[k * size + i] = Normal(rng);
  }
  return matrix;
}

TEST(SolveSymmetricEigen, GivesOrthonormalVectorsThatTheMatrixStretches) {
  Rng rng(1);
  for (const std::size_t size : {1U, 2U, 7U, 40U}) {
    const std::vector<double> matrix = RandomSymmetric(rng, size);
    const SymmetricEigen eigen = SolveSymmetricEigen(matrix, size);
    for (std::size_t k = 0; k < size; ++k) {
      if (k > 0) {
        EXPECT_GE(eigen.values[k - 1], eigen.values[k]);
      }
      for (std::size_t i = 0; i < size; ++i) {
        double product = 0, dot = 0;
        for (std::size_t j = 0; j < size; ++j) {
          product += matrix[i * size + j] * eigen.vectors[j * size + k];
          dot += eigen.vectors[j * size + k] * eigen.vectors[j * size + i];
        }
        EXPECT_NEAR(product, eigen.values[k] * eigen.vectors[i * size + k], 1e-10);
        EXPECT_NEAR(dot, i == k ? 1 : 0, 1e-10);
      }
    }
  }
}

}  // namespace
}  // namespace tributary::inline base
