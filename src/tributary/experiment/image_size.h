#pragma once

#include <string>
#include <string_view>

#include "tributary/base/status.h"
#include "tributary/data/folder_options.h"

namespace tributary {

inline constexpr std::size_t kLargestImageSide = 4096;    // that pictures are brought to
inline constexpr std::size_t kLongestWindow = 1'000'000;  // rows
inline constexpr std::size_t kMostSensorColumns = 256;
inline constexpr std::size_t kMostFolderClasses = 100'000;

// "64" or "48x64": height and width, as shapes have them.
Status ParseImageSize(std::string_view text, ImageSettings& settings);
std::string FormatImageSize(const ImageSettings& settings);

}  // namespace tributary
