#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tributary/base/flat_buffer.h"
#include "tributary/base/status.h"

namespace tributary::inline policy {

// The features of samples: one row of `dimensions` values each, contiguous. A view of the caller's values.
struct Features {
  std::span<const float> values;
  std::size_t dimensions = 0;

  std::size_t samples() const { return dimensions == 0 ? 0 : values.size() / dimensions; }
  std::span<const float> Row(std::size_t sample) const {
    return values.subspan(sample * dimensions, dimensions);
  }
};

// Refuses features without samples or dimensions, values that are not finite or at least 1e15 in magnitude
// (squares could overflow), and a number of rows other than `labels`. Names the first bad value by row and
// column.
Status CheckFeatures(const Features& features, std::size_t labels);

// Samples per panel; the last panel is padded with zero rows.
inline constexpr std::size_t kPanel = 16;

// The rows of some samples, laid out for pairwise distances: panel by panel, dimension by dimension, with the
// values of the panel's kPanel samples adjacent.
class Panels {
 public:
  Panels(const Features& features, std::span<const std::uint32_t> samples);

  std::size_t samples() const { return samples_; }
  std::size_t panels() const { return (samples_ + kPanel - 1) / kPanel; }
  std::size_t dimensions() const { return dimensions_; }
  const float* panel(std::size_t index) const { return values_.data() + index * kPanel * dimensions_; }

  // The memory for this many samples.
  static std::size_t BytesFor(std::size_t samples, std::size_t dimensions) {
    return (samples + kPanel - 1) / kPanel * kPanel * dimensions * sizeof(float);
  }

 private:
  std::size_t samples_, dimensions_;
  FlatBuffer values_;
};

// Squared distances between the samples of two panels: squares[r · kPanel + c] is between sample r of the
// first and sample c of the second. Squares are added in the order of dimensions, so each result is
// bit-identical for any placement in panels and on every machine, symmetric, and zero for equal samples.
void PanelSquares(const float* rows, const float* columns, std::size_t dimensions, float* squares);

// The same for sample `row` of the first panel only.
void RowSquares(const float* rows, std::size_t row, const float* columns, std::size_t dimensions,
                float* squares);

// values[i] becomes exp(−factor · values[i]), with a relative error below 3e-7 (0 if below 1e-37).
// Bit-identical on every machine. Values and factor must not be negative.
void ExpOfNegative(float factor, std::span<float> values);

}  // namespace tributary::inline policy
