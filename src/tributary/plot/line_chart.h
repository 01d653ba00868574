#pragma once

#include <string>
#include <vector>

#include "tributary/plot/svg.h"

namespace tributary::inline plot {

// One line: points in the order in which they are joined, and what they mean. Every number is finite and of a
// magnitude below 1e18.
struct LineSeries {
  struct Band {
    double low = 0;
    double high = 0;
  };

  std::string name;
  std::vector<Point> points;
  // The spread around each point (over seeds, say), drawn as a pale surface. Empty for none, otherwise one
  // for each point.
  std::vector<Band> band;
};

// A level to compare the lines with: a published figure, a target accuracy. The label stands at its right
// end.
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
  // The x axis counts in powers of ten. Points that are not to the right of zero have no place on it and are
  // left out.
  bool log_x = false;
};

// An SVG picture of the lines in their order, later ones over earlier ones. The axes hold every point, band
// and reference line; zero is on them when the data come near it. Series of few points show each of them,
// with its numbers where the pointer rests. The legend stands below the axes and the labels of reference
// lines beside them, so that neither ever covers data. A chart without points says so.
std::string DrawLineChart(const LineChart& chart);

}  // namespace tributary::inline plot
