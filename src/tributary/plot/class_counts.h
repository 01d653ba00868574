#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tributary::inline plot {

// The number of samples of each class on every device.
struct ClassCounts {
  std::string title;
  // counts[device][class], not negative. All devices have the same number of classes, at least one.
  std::vector<std::vector<std::int64_t>> counts;
  // For the legend: one name per class, or empty to use class numbers.
  std::vector<std::string> class_names;
};

// An SVG picture with one stacked bar per device, device 0 at the top. The length is the number of samples,
// colours are classes, and segments show their class number if there is room. For 1 to some hundreds of
// devices; with many, bars are thin and most labels are omitted.
std::string DrawClassCounts(const ClassCounts& chart);

}  // namespace tributary::inline plot
