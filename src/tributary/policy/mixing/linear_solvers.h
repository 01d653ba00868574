#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

namespace tributary::inline policy {

// The Cholesky factor U of a symmetric positive definite matrix A = UᵀU, for a few hundred rows.
class Cholesky {
 public:
  // Empty if the matrix (row-major, only the upper half is read) is not positive definite within rounding.
  static std::optional<Cholesky> Of(std::vector<double> matrix, std::size_t size);

  double log_determinant() const;
  // Solves A · x = right.
  std::vector<double> Solve(std::span<const double> right) const;
  std::vector<double> Inverse() const;

 private:
  Cholesky(std::vector<double> factor, std::size_t size) : factor_(std::move(factor)), size_(size) {}

  std::vector<double> factor_;  // U, row-major; undefined below the diagonal
  std::size_t size_;
};

struct Eigenpair {
  double value = 0;
  std::vector<double> vector;  // of length one
};

// A symmetric matrix as a function: out = A · x. `out` is initially zero.
using SymmetricMap = std::function<void(std::span<const double> x, std::span<double> out)>;

// The largest eigenvalue of a symmetric matrix and its eigenvector, by a thick-restart Lanczos iteration
// (dense solver for small matrices). Converged when the residual is below 1e-11 of the eigenvalue of largest
// magnitude found. The same bits on every machine.
Eigenpair TopEigenpair(std::size_t size, const SymmetricMap& map);

}  // namespace tributary::inline policy
