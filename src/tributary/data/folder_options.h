#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/data/sensor_windows.h"

namespace tributary {

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

}  // namespace tributary
