#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

namespace tributary {

// A symmetric positive definite matrix A as UᵀU with U upper triangular; for a few hundred rows.
class Cholesky {
 public:
  // Nothing where the matrix, row by row, is not positive definite to within rounding. Reads its upper half.
  static std::optional<Cholesky> Of(std::vector<double> matrix, std::size_t size);

  double log_determinant() const;
  // The x of A · x = right.
  std::vector<double> Solve(std::span<const double> right) const;
  std::vector<double> Inverse() const;

 private:
  Cholesky(std::vector<double> factor, std::size_t size) : factor_(std::move(factor)), size_(size) {}

  std::vector<double> factor_;  // U, row by row. What is below the diagonal means nothing.
  std::size_t size_;
};

}  // namespace tributary
