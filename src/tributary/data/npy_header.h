#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/status.h"

namespace tributary {

constexpr std::size_t kNpyMostDimensions = 8;

// What the text of a .npy header says: a Python dictionary with exactly these three keys, in any order.
struct NpyHeader {
  std::string type;  // "<f4", "|u1", …: not judged here.
  bool fortran_order = false;
  std::vector<std::size_t> shape;
};

// `offset` is where the text stands in its file; errors give bytes counted from there.
StatusOr<NpyHeader> ParseNpyHeader(std::string_view text, std::size_t offset);

}  // namespace tributary
