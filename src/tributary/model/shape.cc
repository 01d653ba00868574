#include "tributary/model/shape.h"

#include <charconv>

namespace tributary::inline model {

std::string FormatShape(const Shape& shape) {
  if (shape.flat) return std::to_string(shape.channels);
  return std::to_string(shape.channels) + "x" + std::to_string(shape.height) + "x" +
         std::to_string(shape.width);
}

StatusOr<Shape> ParseShape(std::string_view text) {
  const auto fail = [&] {
    return InvalidArgument(
        "'" + std::string(text.substr(0, 64)) +
        "' is not a shape; write channels x height x width, e.g. 3x32x32, each from 1 to 65536");
  };
  constexpr std::int64_t kLargest = 65536;
  std::int64_t parts[3] = {};
  const char* at = text.data();
  const char* const end = at + text.size();
  for (int i = 0; i < 3; ++i) {
    if (i > 0 && (at == end || *at++ != 'x')) return fail();
    const auto [rest, error] = std::from_chars(at, end, parts[i]);
    if (error != std::errc() || parts[i] < 1 || parts[i] > kLargest) return fail();
    at = rest;
  }
  if (at != end) return fail();
  return Shape{parts[0], parts[1], parts[2]};
}

}  // namespace tributary::inline model
