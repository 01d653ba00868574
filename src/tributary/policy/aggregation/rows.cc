#include "tributary/policy/aggregation/rows.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace tributary::inline policy {

std::size_t ShareOf(double share, std::size_t rows) {
  // A tenth of 30 is 3, although 0.1 · 30 is above it.
  const auto rounded = static_cast<std::size_t>(std::ceil(share * static_cast<double>(rows) * (1 - 1e-12)));
  return std::min(rounded, (rows - 1) / 2);
}

void OrderRows(std::span<float> first, std::span<float> second) {
  float* __restrict a = first.data();
  float* __restrict b = second.data();
  for (std::size_t i = 0; i < first.size(); ++i) {
    const float low = b[i] < a[i] ? b[i] : a[i];
    const float high = b[i] < a[i] ? a[i] : b[i];
    a[i] = low;
    b[i] = high;
  }
}

// Batcher's merge exchange (Knuth, The Art of Computer Programming, 5.2.2 M): about n · log²(n) / 4 comparisons of rows,
// which do not depend on the values and so run on vectors.
void SortRows(std::span<const std::span<float>> rows) {
  const std::size_t n = rows.size();
  const std::size_t top = std::bit_ceil(n) / 2;
  for (std::size_t p = top; p > 0; p /= 2) {
    std::size_t rest = 0;
    std::size_t distance = p;
    for (std::size_t q = top;; q /= 2) {
      for (std::size_t i = 0; i + distance < n; ++i) {
        if ((i & p) == rest) OrderRows(rows[i], rows[i + distance]);
      }
      if (q == p) break;
      distance = q - p;
      rest = p;
    }
  }
}

void MedianOfRows(std::span<const std::span<float>> rows, std::span<float> median) {
  SortRows(rows);
  const std::size_t middle = rows.size() / 2;
  MeanOfRows(rows.size() % 2 == 1 ? rows.subspan(middle, 1) : rows.subspan(middle - 1, 2), median);
}

void MeanOfRows(std::span<const std::span<float>> rows, std::span<float> mean) {
  for (std::size_t i = 0; i < mean.size(); ++i) {
    double sum = 0;
    for (const std::span<float> row : rows) sum += static_cast<double>(row[i]);
    mean[i] = static_cast<float>(sum / static_cast<double>(rows.size()));
  }
}

}  // namespace tributary::inline policy
