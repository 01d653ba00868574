#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tributary/base/status.h"

namespace tributary::inline model {

// The shape of one sample's tensor, without the batch. A flat tensor (after flatten, and of every linear layer) has
// its columns in `channels`. One-dimensional signals are images of height 1.
struct Shape {
  std::int64_t channels = 0;
  std::int64_t height = 1;
  std::int64_t width = 1;
  bool flat = false;

  static Shape Flat(std::int64_t columns) { return {columns, 1, 1, true}; }
  std::int64_t elements() const { return channels * height * width; }

  friend bool operator==(const Shape&, const Shape&) = default;
};

// "64x32x32", or "512" for a flat one.
std::string FormatShape(const Shape& shape);

// Reads "CxHxW" with every part in 1 … 65536.
StatusOr<Shape> ParseShape(std::string_view text);

}  // namespace tributary::inline model
