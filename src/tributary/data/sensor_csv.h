#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"

namespace tributary::inline data {

// What a file of readings must hold.
struct SensorCsvOptions {
  // The columns with values, in the order they are wanted; the file may have them in another. Empty: all but those of time
  // and label, as they come.
  std::vector<std::string> columns{};
  // The labels that may occur. Empty: any.
  std::vector<std::string> labels{};
  // Whether it may have others besides, which are passed over whatever they hold.
  bool others = false;
  std::string time_column = "timestamp";
  std::string label_column = "label";
  Duration time_unit = std::chrono::milliseconds(1);  // that time is counted in; positive
};

// Readings of one sensor, or of several that were read together, in the order of time.
struct SensorRecording {
  std::vector<std::string> columns;  // Of the values.
  std::vector<std::string> labels;   // The words, as allowed; or in the order they first occur.
  // One of each per row; of the values as many as there are columns.
  std::vector<float> values;
  std::vector<TimePoint> times;            // Since 1970, or wherever the file counts from.
  std::vector<std::int32_t> label_of_row;  // Indices into `labels`.

  std::size_t rows() const { return times.size(); }
};

// Reads comma-separated values: a heading that names the columns in any order, then a row for each reading. The
// column of time (`timestamp`) counts milliseconds, or what was said, and never goes back (readings that were handed over
// together may share one); that of the label (`label`) is a word; every other column holds finite numbers. Quotes have no meaning. Lines may end in \r\n, and empty lines at the end are
// ignored.
//
// Any bytes give a recording with at least one row, or an error that begins with the line: "line 17: …". At most 256
// columns, 65,536 bytes a line, 1,000 labels of 64 bytes; the memory taken is bounded by the size of the text.
StatusOr<SensorRecording> ParseSensorCsv(std::string_view text, const SensorCsvOptions& options = {});

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

// The windows of a recording, in the order of time. They start at its first row, and again after each gap.
std::vector<SensorWindow> CutWindows(const SensorRecording& recording, const WindowOptions& options);

}  // namespace tributary::inline data
