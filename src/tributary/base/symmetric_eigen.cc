#include "tributary/base/symmetric_eigen.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary::inline base {
namespace {

// Rotates two rows or columns; `step` is the distance between consecutive entries.
void RotateRows(double* first, double* second, std::size_t count, std::size_t step, double cosine,
                double sine) {
  for (std::size_t k = 0; k < count; ++k) {
    const double a = first[k * step], b = second[k * step];
    first[k * step] = cosine * a - sine * b;
    second[k * step] = sine * a + cosine * b;
  }
}

double SumOffDiagonal(const std::vector<double>& matrix, std::size_t size) {
  double sum = 0;
  for (std::size_t p = 0; p < size; ++p) {
    for (std::size_t q = p + 1; q < size; ++q) sum += matrix[p * size + q] * matrix[p * size + q];
  }
  return sum;
}

}  // namespace

SymmetricEigen SolveSymmetricEigen(std::vector<double> matrix, std::size_t size) {
  TRIBUTARY_CHECK(matrix.size() == size * size);
  constexpr int kMostSweeps = 60;  // About six suffice; the limit guarantees termination despite rounding.
  std::vector<double> turned(size * size, 0);  // Row k is the k-th eigenvector.
  for (std::size_t i = 0; i < size; ++i) turned[i * size + i] = 1;
  double squares = 0;
  for (const double entry : matrix) squares += entry * entry;
  for (int sweep = 0; sweep < kMostSweeps && SumOffDiagonal(matrix, size) > 1e-26 * squares; ++sweep) {
    for (std::size_t p = 0; p < size; ++p) {
      for (std::size_t q = p + 1; q < size; ++q) {
        const double off = matrix[p * size + q];
        if (off == 0) continue;
        const double angle = (matrix[q * size + q] - matrix[p * size + p]) / (2 * off);
        const double tangent = (angle >= 0 ? 1.0 : -1.0) / (std::abs(angle) + std::sqrt(angle * angle + 1));
        const double cosine = 1 / std::sqrt(tangent * tangent + 1), sine = tangent * cosine;
        RotateRows(&matrix[p * size], &matrix[q * size], size, 1, cosine, sine);
        RotateRows(&matrix[p], &matrix[q], size, size, cosine, sine);
        RotateRows(&turned[p * size], &turned[q * size], size, 1, cosine, sine);
      }
    }
  }
  std::vector<std::size_t> order(size);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(
      order, [&](std::size_t a, std::size_t b) { return matrix[a * size + a] > matrix[b * size + b]; });
  SymmetricEigen result;
  result.vectors.resize(size * size);
  for (std::size_t k = 0; k < size; ++k) {
    result.values.push_back(matrix[order[k] * size + order[k]]);
    for (std::size_t i = 0; i < size; ++i) result.vectors[i * size + k] = turned[order[k] * size + i];
  }
  return result;
}

}  // namespace tributary::inline base
