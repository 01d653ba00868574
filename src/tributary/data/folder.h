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
  kAuto,    // grey where every picture is grey as it is stored, otherwise colour
  kGrey,    // one channel
  kColour,  // three
};

// How a folder of pictures is read (image_folder.h).
struct ImageSettings {
  // To which every picture is brought; 0: they have one size, and keep it. Smaller costs less and shows less.
  std::size_t height = 0;
  std::size_t width = 0;
  ImageColour colour = ImageColour::kAuto;
  friend bool operator==(const ImageSettings&, const ImageSettings&) = default;
};

// How folders of recordings are read (sensor_folder.h).
struct SensorSettings {
  WindowOptions windows{};
  // The columns with values, in their order; others are left out. Empty: all.
  std::vector<std::string> columns{};
  std::string time_column = "timestamp";
  std::string label_column = "label";
  Duration time_unit = std::chrono::milliseconds(1);  // of the time column
  friend bool operator==(const SensorSettings&, const SensorSettings&) = default;
};

// "data/" and "data" are one folder, but the first has no file name.
inline std::filesystem::path WithoutLastSlash(const std::filesystem::path& folder) {
  return folder.has_filename() ? folder : folder.parent_path();
}

// The files of a folder that are `wanted`, and the folders in it. Hidden names are left out. In the order of the bytes of
// their names, so that nothing depends on the file system or the language. Refused if there are more than `most`; `what`
// says in that error what the files are.
StatusOr<std::vector<std::filesystem::path>> ListFiles(
    const std::filesystem::path& folder, std::size_t most, std::string_view what,
    const std::function<bool(const std::filesystem::path&)>& wanted);
StatusOr<std::vector<std::filesystem::path>> ListFolders(const std::filesystem::path& folder,
                                                         std::size_t most);

}  // namespace tributary::inline data
