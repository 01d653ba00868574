#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/data/sensor_csv.h"

namespace tributary {

// How a recording is cut into samples.
struct WindowOptions {
  // Rows in a window, and from the start of one to the start of the next. Rows are counted and not time: sensors read at
  // a steady rate, but hand readings over in bunches that share a time stamp. Both at least 1.
  std::size_t length = 100;
  std::size_t hop = 25;
  // Rows that lie further apart than this do not belong together: no window holds both.
  Duration longest_gap = std::chrono::milliseconds(250);
  // A window has the label that at least so large a share of its rows has; one without such a label is left out. Above a
  // half, so that there is at most one, and at most 1.
  double majority = 0.6;
  friend bool operator==(const WindowOptions&, const WindowOptions&) = default;
};

struct SensorWindow {
  std::size_t first = 0;   // row
  std::int32_t label = 0;  // as in the recording
  TimePoint complete{0};   // time of its last row
  friend bool operator==(const SensorWindow&, const SensorWindow&) = default;
};

// The windows of a recording, in the order of time. They start at its first row, and anew after each gap.
std::vector<SensorWindow> CutWindows(const SensorRecording& recording, const WindowOptions& options);

}  // namespace tributary
