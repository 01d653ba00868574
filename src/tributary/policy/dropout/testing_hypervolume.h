#pragma once

#include <algorithm>
#include <span>
#include <utility>
#include <vector>

#include "tributary/base/check.h"
#include "tributary/policy/dropout/pareto.h"

namespace tributary::testing {

// The area, below and left of the reference, that points of two objectives dominate. Those that do not lie strictly
// below it in both add nothing.
inline double Hypervolume2D(std::span<const Objectives> points, std::span<const double> reference) {
  TRIBUTARY_CHECK(reference.size() == 2);
  std::vector<std::pair<double, double>> inside;
  for (const Objectives& point : points) {
    TRIBUTARY_CHECK(point.size() == 2);
    if (point[0] < reference[0] && point[1] < reference[1]) inside.emplace_back(point[0], point[1]);
  }
  std::sort(inside.begin(), inside.end());
  // From left to right each point adds the strip between its height and the lowest so far.
  double area = 0;
  double lowest = reference[1];
  for (const auto& [x, y] : inside) {
    if (y >= lowest) continue;
    area += (reference[0] - x) * (lowest - y);
    lowest = y;
  }
  return area;
}

}  // namespace tributary::testing
