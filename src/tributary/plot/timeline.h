#pragma once

#include <string>
#include <vector>

namespace tributary::inline plot {

// "Who did what when": lanes of blocks over time, in rows that share one time axis so that they can be compared.
struct Timeline {
  struct Block {
    double begin = 0;
    double end = 0;
    std::string label;       // shown where there is room, and when the pointer rests on it
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

// An SVG picture. Thousands of blocks are fine; what is narrower than a pixel is drawn as a hair line.
std::string DrawTimeline(const Timeline& timeline);

}  // namespace tributary::inline plot
