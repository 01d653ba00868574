#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tributary::inline policy {

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

struct Eigenpair {
  double value = 0;
  std::vector<double> vector;  // Of length one.
};

// A symmetric matrix as what it does: out = A · x. `out` comes in as zeros.
using SymmetricMap = std::function<void(std::span<const double> x, std::span<double> out)>;

// The largest eigenvalue of a symmetric matrix and a vector of it, by a Lanczos iteration that starts anew from its
// best directions (small matrices are solved whole). It ends when A · vector is value · vector to 1e-11 of the
// largest eigenvalue in magnitude that was met. The same on every machine.
Eigenpair TopEigenpair(std::size_t size, const SymmetricMap& map);

}  // namespace tributary::inline policy
