#include "tributary/experiment/image_size.h"

#include <algorithm>
#include <charconv>

namespace tributary {

Status ParseImageSize(std::string_view text, ImageSettings& settings) {
  const auto read = [](std::string_view part, std::size_t& out) {
    const auto [end, error] = std::from_chars(part.data(), part.data() + part.size(), out);
    return error == std::errc() && end == part.data() + part.size() && out >= 1 && out <= kLargestImageSide;
  };
  const std::size_t cross = std::min(text.find('x'), text.size());
  std::size_t height = 0, width = 0;
  const bool first = read(text.substr(0, cross), height);
  const bool second = cross == text.size() ? (width = height, true) : read(text.substr(cross + 1), width);
  if (!first || !second) {
    return InvalidArgument("allowed: a side, like 64, or height and width, like 48x64, each from 1 to " +
                           std::to_string(kLargestImageSide));
  }
  settings.height = height;
  settings.width = width;
  return OkStatus();
}

std::string FormatImageSize(const ImageSettings& settings) {
  return std::to_string(settings.height) + "x" + std::to_string(settings.width);
}

}  // namespace tributary
