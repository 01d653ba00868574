#include "tributary/policy/mixing/cholesky.h"

#include <cmath>

#include "tributary/base/check.h"
#include "tributary/base/portable_math.h"

namespace tributary {
namespace {

// to[begin, end) -= scale · from[begin, end). All the work is in here, over rows, where it is wide.
void SubtractRow(double* to, double scale, const double* from, std::size_t begin, std::size_t end) {
  for (std::size_t k = begin; k < end; ++k) to[k] -= scale * from[k];
}

}  // namespace

std::optional<Cholesky> Cholesky::Of(std::vector<double> matrix, std::size_t size) {
  TRIBUTARY_CHECK(matrix.size() == size * size);
  for (std::size_t i = 0; i < size; ++i) {
    double* const row = &matrix[i * size];
    if (!(row[i] > 0) || !std::isfinite(row[i])) return std::nullopt;
    const double root = std::sqrt(row[i]);
    for (std::size_t k = i; k < size; ++k) row[k] /= root;
    for (std::size_t j = i + 1; j < size; ++j) SubtractRow(&matrix[j * size], row[j], row, j, size);
  }
  return Cholesky(std::move(matrix), size);
}

double Cholesky::log_determinant() const {
  double sum = 0;
  for (std::size_t i = 0; i < size_; ++i) sum += 2 * PortableLog(factor_[i * size_ + i]);
  return sum;
}

std::vector<double> Cholesky::Solve(std::span<const double> right) const {
  TRIBUTARY_CHECK(right.size() == size_);
  std::vector<double> x(right.begin(), right.end());
  for (std::size_t i = 0; i < size_; ++i) {  // Uᵀ · y = right.
    x[i] /= factor_[i * size_ + i];
    SubtractRow(x.data(), x[i], &factor_[i * size_], i + 1, size_);
  }
  for (std::size_t i = size_; i-- > 0;) {  // U · x = y.
    for (std::size_t k = i + 1; k < size_; ++k) x[i] -= factor_[i * size_ + k] * x[k];
    x[i] /= factor_[i * size_ + i];
  }
  return x;
}

std::vector<double> Cholesky::Inverse() const {
  // V = U⁻¹, upper triangular, from the last row up; then A⁻¹ = V · Vᵀ.
  std::vector<double> inner(size_ * size_, 0);
  for (std::size_t i = size_; i-- > 0;) {
    double* const row = &inner[i * size_];
    row[i] = 1;
    for (std::size_t k = i + 1; k < size_; ++k)
      SubtractRow(row, factor_[i * size_ + k], &inner[k * size_], k, size_);
    for (std::size_t k = i; k < size_; ++k) row[k] /= factor_[i * size_ + i];
  }
  std::vector<double> across(size_ * size_);  // Vᵀ, so that the products go over rows too.
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t k = 0; k < size_; ++k) across[k * size_ + i] = inner[i * size_ + k];
  }
  std::vector<double> inverse(size_ * size_, 0);
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t k = i; k < size_; ++k) {
      SubtractRow(&inverse[i * size_], -inner[i * size_ + k], &across[k * size_], 0, i + 1);
    }
  }
  for (std::size_t i = 0; i < size_; ++i) {
    for (std::size_t k = i + 1; k < size_; ++k) inverse[i * size_ + k] = inverse[k * size_ + i];
  }
  return inverse;
}

}  // namespace tributary
