#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tributary::inline plot {

// "Who has what": how many samples of each class every device holds.
struct ClassCounts {
  std::string title;
  // counts[device][class], not negative. All devices have the same number of classes, at least one.
  std::vector<std::vector<std::int64_t>> counts;
  // For the legend; empty: classes go by their numbers. Otherwise one for each class.
  std::vector<std::string> class_names;
};

// An SVG picture with one stacked bar per device, device 0 at the top: its length is the number of samples,
// its colours are the classes, and where there is room a segment carries the number of its class. From 1 to
// some hundreds of devices; many make the bars thin and leave out most of their labels.
std::string DrawClassCounts(const ClassCounts& chart);

}  // namespace tributary::inline plot
