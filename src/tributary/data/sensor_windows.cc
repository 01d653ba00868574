#include "tributary/data/sensor_windows.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary {

std::vector<SensorWindow> CutWindows(const SensorRecording& recording, const WindowOptions& options) {
  TRIBUTARY_CHECK(options.length > 0 && options.hop > 0 && options.majority > 0.5 && options.majority <= 1);
  const double needed = options.majority * static_cast<double>(options.length);
  std::vector<SensorWindow> windows;
  std::vector<std::size_t> counts(recording.labels.size());
  std::size_t begin = 0;  // of the rows without a gap
  while (begin < recording.rows()) {
    std::size_t end = begin + 1;
    while (end < recording.rows() && recording.times[end] - recording.times[end - 1] <= options.longest_gap)
      ++end;
    std::ranges::fill(counts, 0);
    std::size_t counted = begin, left = begin;  // Of the rows before, those from the second on are counted.
    for (std::size_t first = begin; first + options.length <= end; first += options.hop) {
      for (; left < std::min(first, counted); ++left)
        --counts[static_cast<std::size_t>(recording.label_of_row[left])];
      left = first;
      for (counted = std::max(counted, first); counted < first + options.length; ++counted) {
        ++counts[static_cast<std::size_t>(recording.label_of_row[counted])];
      }
      const auto most = std::ranges::max_element(counts);
      if (static_cast<double>(*most) < needed) continue;
      windows.push_back({first, static_cast<std::int32_t>(most - counts.begin()),
                         recording.times[first + options.length - 1]});
    }
    begin = end;
  }
  return windows;
}

}  // namespace tributary
