#pragma once

#include <string>
#include <vector>

#include "tributary/plot/svg.h"

namespace tributary::inline plot {

// A line through points in the given order. All numbers must be finite and below 1e18 in magnitude.
struct LineSeries {
  struct Band {
    double low = 0;
    double high = 0;
  };

  std::string name;
  std::vector<Point> points;
  // The spread around each point (for example, over seeds), drawn as a pale area. Empty, or one per point.
  std::vector<Band> band;
};

// A level for comparison, such as a published figure or a target accuracy, labelled at its right end.
struct ReferenceLine {
  double y = 0;
  std::string label;
};

struct LineChart {
  std::string title;
  std::string x_title;
  std::string y_title;
  std::vector<LineSeries> series;
  std::vector<ReferenceLine> references;
  // Logarithmic x axis. Points with x ≤ 0 are omitted.
  bool log_x = false;
};

// An SVG picture of the lines, later ones over earlier ones. The axes cover all points, bands and reference
// lines, and zero if the data come near it. Series of few points show point markers with their values as
// tooltips. The legend is below the axes, and labels of reference lines are beside them, so neither covers
// data. A chart without points says so.
std::string DrawLineChart(const LineChart& chart);

}  // namespace tributary::inline plot
