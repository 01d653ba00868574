#pragma once

#include <string>
#include <vector>

namespace tributary::inline plot {

// Lanes of blocks over time, in rows that share one time axis for comparison.
struct Timeline {
  struct Block {
    double begin = 0;
    double end = 0;
    std::string label;       // shown if there is room, and as tooltip
    std::size_t colour = 0;  // a category (svg.h)
  };
  struct Lane {
    std::string name;  // "link", "processor"
    std::vector<Block> blocks;
  };
  struct Row {
    std::string title;  // "optimal: 412 ms"
    std::vector<Lane> lanes;
    double end = 0;  // marked by a line
  };

  std::string title;
  std::string unit;  // of the time axis
  std::vector<Row> rows;
};

// An SVG picture, suitable for thousands of blocks; a block narrower than a pixel is a hairline.
std::string DrawTimeline(const Timeline& timeline);

}  // namespace tributary::inline plot
