#include "tributary/policy/mixing/linear_solvers.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/check.h"
#include "tributary/base/portable_math.h"
#include "tributary/base/rng.h"
#include "tributary/base/symmetric_eigen.h"

namespace tributary::inline policy {
namespace {

// to[begin, end) -= scale · from[begin, end). The inner loop of everything here; over rows, it vectorises.
void SubtractRow(double* to, double scale, const double* from, std::size_t begin, std::size_t end) {
  for (std::size_t k = begin; k < end; ++k) to[k] -= scale * from[k];
}

constexpr std::size_t kBasis = 48;  // also the largest matrix for the dense solver
constexpr std::size_t kKept = 16;
constexpr double kResidual = 1e-11;
constexpr int kMostRestarts = 2000;

using Vectors = std::vector<std::vector<double>>;

double DotOf(std::span<const double> a, std::span<const double> b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

void AddScaled(std::span<double> to, double scale, std::span<const double> x) {
  for (std::size_t i = 0; i < to.size(); ++i) to[i] += scale * x[i];
}

// Gram-Schmidt: makes `x` orthogonal to the basis, twice because of rounding, and of length one. False if
// nothing is left: the basis is then invariant under the map.
bool MakeOrthonormal(const Vectors& basis, std::vector<double>& x) {
  const double before = std::sqrt(DotOf(x, x));
  for (int pass = 0; pass < 2; ++pass) {
    for (const auto& direction : basis) AddScaled(x, -DotOf(direction, x), direction);
  }
  const double length = std::sqrt(DotOf(x, x));
  if (!(length > 1e-12 * before)) return false;
  for (double& entry : x) entry /= length;
  return true;
}

std::vector<double> Apply(const SymmetricMap& map, std::span<const double> x) {
  std::vector<double> out(x.size(), 0);
  map(x, out);
  return out;
}

Eigenpair SolveWhole(std::size_t size, const SymmetricMap& map) {
  std::vector<double> matrix;
  for (std::size_t i = 0; i < size; ++i) {
    std::vector<double> unit(size, 0);
    unit[i] = 1;
    const std::vector<double> column = Apply(map, unit);
    matrix.insert(matrix.end(), column.begin(), column.end());
  }
  const SymmetricEigen eigen = SolveSymmetricEigen(std::move(matrix), size);
  Eigenpair top{eigen.values[0], std::vector<double>(size)};
  for (std::size_t i = 0; i < size; ++i) top.vector[i] = eigen.vectors[i * size];
  return top;
}

// The first `count` columns of eigen.vectors, as linear combinations of the directions.
Vectors Combine(const Vectors& directions, const SymmetricEigen& eigen, std::size_t count) {
  Vectors combined(count, std::vector<double>(directions[0].size(), 0));
  for (std::size_t k = 0; k < count; ++k) {
    for (std::size_t i = 0; i < directions.size(); ++i) {
      AddScaled(combined[k], eigen.vectors[i * directions.size() + k], directions[i]);
    }
  }
  return combined;
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
  for (std::size_t i = 0; i < size_; ++i) {  // Uᵀ · y = right
    x[i] /= factor_[i * size_ + i];
    SubtractRow(x.data(), x[i], &factor_[i * size_], i + 1, size_);
  }
  for (std::size_t i = size_; i-- > 0;) {  // U · x = y
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
  std::vector<double> across(size_ * size_);  // Vᵀ, so that the products run over rows too
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

Eigenpair TopEigenpair(std::size_t size, const SymmetricMap& map) {
  if (size <= kBasis) return SolveWhole(size, map);
  Vectors basis, images;  // images[k] = A · basis[k]
  Rng rng(1);             // a random start is almost surely not orthogonal to the eigenvector
  std::vector<double> next(size);
  for (double& entry : next) entry = rng.Uniform() - 0.5;
  for (int restart = 0;; ++restart) {
    bool complete = false;
    while (basis.size() < kBasis && !complete) {
      complete = !MakeOrthonormal(basis, next);
      if (complete) break;
      images.push_back(Apply(map, next));
      basis.push_back(std::move(next));
      next = images.back();
    }
    std::vector<double> inner(basis.size() * basis.size());
    for (std::size_t i = 0; i < basis.size(); ++i) {
      for (std::size_t k = 0; k <= i; ++k) {
        inner[i * basis.size() + k] = inner[k * basis.size() + i] = DotOf(basis[i], images[k]);
      }
    }
    const SymmetricEigen eigen = SolveSymmetricEigen(std::move(inner), basis.size());
    const std::size_t kept = std::min(kKept, basis.size());
    basis = Combine(basis, eigen, kept);
    images = Combine(images, eigen, kept);
    std::vector<double> residual = images[0];
    AddScaled(residual, -eigen.values[0], basis[0]);
    const double largest = std::max(std::abs(eigen.values.front()), std::abs(eigen.values.back()));
    if (complete || restart == kMostRestarts || std::sqrt(DotOf(residual, residual)) <= kResidual * largest) {
      return {eigen.values[0], std::move(basis[0])};
    }
    // In a Krylov space the residuals of all kept directions are parallel, so any of them continues it.
    next = std::move(residual);
  }
}

}  // namespace tributary::inline policy
