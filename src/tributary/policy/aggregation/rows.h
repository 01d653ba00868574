#pragma once

#include <cstddef>
#include <iterator>
#include <numeric>
#include <span>

namespace tributary::inline policy {

// What robust rules do with rows of the same elements of several updates, element by element and whole rows at a time.
// There is at least one row, and no value is NaN.

// The sum of term(a, b) over the elements of two rows, in lanes of fixed places, which the compiler can compute at once: the
// sum has the same bits on every machine.
template <typename Term>
double SumOfTerms(std::span<const float> a, std::span<const float> b, const Term& term) {
  constexpr std::size_t kLanes = 8;
  double lanes[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= a.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] += term(static_cast<double>(a[i + lane]), static_cast<double>(b[i + lane]));
  }
  for (std::size_t lane = 0; i < a.size(); ++i, ++lane)
    lanes[lane] += term(static_cast<double>(a[i]), static_cast<double>(b[i]));
  return std::accumulate(std::begin(lanes), std::end(lanes), 0.0);
}

// How many of `rows` a share is: rounded up, so that a fleet too small for a whole one still loses one, and less than half.
std::size_t ShareOf(double share, std::size_t rows);

// The smaller value of each element goes to the first row.
void OrderRows(std::span<float> first, std::span<float> second);

// Sorts each element over all rows.
void SortRows(std::span<const std::span<float>> rows);

// The median of each element; of an even number, the mean of the two in the middle. Sorts the rows.
void MedianOfRows(std::span<const std::span<float>> rows, std::span<float> median);

// The mean of each element, in double.
void MeanOfRows(std::span<const std::span<float>> rows, std::span<float> mean);

}  // namespace tributary::inline policy
