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

// Requirements for a file of readings.
struct SensorCsvOptions {
  // The value columns, in result order (not file order). Empty: all but time and label, in file order.
  std::vector<std::string> columns{};
  // The allowed labels. Empty: any.
  std::vector<std::string> labels{};
  // Whether other columns are allowed. They are ignored.
  bool others = false;
  std::string time_column = "timestamp";
  std::string label_column = "label";
  Duration time_unit = std::chrono::milliseconds(1);  // unit of the time column; positive
};

// Readings of one sensor, or of several sensors read together, in time order.
struct SensorRecording {
  std::vector<std::string> columns;  // of the values
  std::vector<std::string> labels;   // as allowed, or in the order of first occurrence
  // The values of all rows, columns.size() per row, and one time and label per row.
  std::vector<float> values;
  std::vector<TimePoint> times;            // since 1970 or the file's origin
  std::vector<std::int32_t> label_of_row;  // indices into `labels`

  std::size_t rows() const { return times.size(); }
};

// Parses comma-separated values: a header with column names in any order, then one row per reading. Times
// never decrease, but readings may share one. Labels are words; all other columns hold finite numbers. Quotes
// are not special. Lines may end in \r\n; empty lines at the end are ignored.
//
// Safe on arbitrary bytes: returns at least one row, or an error that starts with the line: "line 17: …". At
// most 256 columns, 65,536 bytes per line, 1,000 labels of 64 bytes; memory is linear in the text.
StatusOr<SensorRecording> ParseSensorCsv(std::string_view text, const SensorCsvOptions& options = {});

// How a recording is divided into samples.
struct WindowOptions {
  // Rows per window, and from one window's start to the next. Counted in rows, because sensors read at a
  // steady rate but deliver readings in bunches with one time stamp. Both at least 1.
  std::size_t length = 100;
  std::size_t hop = 25;
  // Windows do not span a longer gap between rows.
  Duration longest_gap = std::chrono::milliseconds(250);
  // The minimum share of rows with the window's label, in (0.5, 1]. Other windows are left out.
  double majority = 0.6;
  friend bool operator==(const WindowOptions&, const WindowOptions&) = default;
};

struct SensorWindow {
  std::size_t first = 0;   // row
  std::int32_t label = 0;  // as in the recording
  TimePoint complete{0};   // time of its last row
  friend bool operator==(const SensorWindow&, const SensorWindow&) = default;
};

// The windows of a recording in time order. They start at the first row and after each gap.
std::vector<SensorWindow> CutWindows(const SensorRecording& recording, const WindowOptions& options);

}  // namespace tributary::inline data
