#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"

namespace tributary::inline policy {

// What samples look like, as numbers: one row of `dimensions` values for each, row after row. A view; whoever made it
// keeps the values.
struct Features {
  std::span<const float> values;
  std::size_t dimensions = 0;

  std::size_t samples() const { return dimensions == 0 ? 0 : values.size() / dimensions; }
  std::span<const float> Row(std::size_t sample) const {
    return values.subspan(sample * dimensions, dimensions);
  }
};

// Refuses features without samples or dimensions, values that are not finite or of a magnitude whose squares could not
// be added up (1e15 and more), and a number of rows that is not that of the labels. The first bad value is named by
// its row and column.
Status CheckFeatures(const Features& features, std::size_t labels);

// Samples side by side in a panel; the last one of a list is filled up with rows of zeros.
inline constexpr std::size_t kPanel = 16;

// The rows of some samples, laid out for distances between all of them: panel after panel, in each dimension after
// dimension, and for each the values of its kPanel samples next to each other.
class Panels {
 public:
  Panels(const Features& features, std::span<const std::uint32_t> samples);

  std::size_t samples() const { return samples_; }
  std::size_t panels() const { return (samples_ + kPanel - 1) / kPanel; }
  std::size_t dimensions() const { return dimensions_; }
  const float* panel(std::size_t index) const { return values_.data() + index * kPanel * dimensions_; }

  // What holding so many samples takes.
  static std::size_t BytesFor(std::size_t samples, std::size_t dimensions) {
    return (samples + kPanel - 1) / kPanel * kPanel * dimensions * sizeof(float);
  }

 private:
  std::size_t samples_, dimensions_;
  FlatBuffer values_;
};

// Squared distances between the samples of two panels: squares[r · kPanel + c] is that of sample r of the first to
// sample c of the second. Differences are squared and added in the order of dimensions, so each is the same to the bit
// whichever panels the two samples lie in and on every machine, symmetric, and zero between equals.
void PanelSquares(const float* rows, const float* columns, std::size_t dimensions, float* squares);

// Those of sample `row` of the first panel alone.
void RowSquares(const float* rows, std::size_t row, const float* columns, std::size_t dimensions,
                float* squares);

// values[i] becomes exp(−factor · values[i]), with a relative error below 3e-7 (and 0 where it is below 1e-37); the
// same to the bit on every machine. Neither values nor factor are negative.
void ExpOfNegative(float factor, std::span<float> values);

}  // namespace tributary::inline policy
