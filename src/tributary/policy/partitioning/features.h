#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "tributary/base/status.h"

namespace tributary {

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

}  // namespace tributary
