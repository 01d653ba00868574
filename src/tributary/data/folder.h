#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"
#include "tributary/data/sensor_csv.h"

namespace tributary::inline data {

enum class ImageColour {
  kAuto,    // grey if every stored picture is grey, else colour
  kGrey,    // one channel
  kColour,  // three channels
};

// How a folder of pictures is loaded (image_folder.h).
struct ImageSettings {
  // Size to which pictures are resized; 0: keep their size, which must be the same for all.
  std::size_t height = 0;
  std::size_t width = 0;
  ImageColour colour = ImageColour::kAuto;
  friend bool operator==(const ImageSettings&, const ImageSettings&) = default;
};

// How folders of recordings are loaded (sensor_folder.h).
struct SensorSettings {
  WindowOptions windows{};
  // The value columns, in order; other columns are ignored. Empty: all columns.
  std::vector<std::string> columns{};
  std::string time_column = "timestamp";
  std::string label_column = "label";
  Duration time_unit = std::chrono::milliseconds(1);  // of the time column
  friend bool operator==(const SensorSettings&, const SensorSettings&) = default;
};

// The `wanted` files of a folder, and its sub-folders, without hidden names, sorted by the bytes of their
// names (not by file system or locale). Fails for more than `most`; `what` names the files in that error.
StatusOr<std::vector<std::filesystem::path>> ListFiles(
    const std::filesystem::path& folder, std::size_t most, std::string_view what,
    const std::function<bool(const std::filesystem::path&)>& wanted);
StatusOr<std::vector<std::filesystem::path>> ListFolders(const std::filesystem::path& folder,
                                                         std::size_t most);

}  // namespace tributary::inline data
