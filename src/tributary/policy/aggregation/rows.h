#pragma once

#include <cstddef>
#include <span>

namespace tributary::inline policy {

// What robust rules do with rows of the same elements of several updates, element by element and whole rows at a time.
// There is at least one row, and no value is NaN.

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
