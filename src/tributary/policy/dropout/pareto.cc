#include "tributary/policy/dropout/pareto.h"

#include <algorithm>
#include <utility>

#include "tributary/base/check.h"

namespace tributary {

bool Dominates(std::span<const double> a, std::span<const double> b) {
  TRIBUTARY_CHECK(a.size() == b.size());
  bool smaller = false;
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (a[i] > b[i]) return false;
    smaller |= a[i] < b[i];
  }
  return smaller;
}

std::vector<std::size_t> NonDominated(std::span<const Objectives> points) {
  std::vector<std::size_t> front;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const auto dominates = [&](const Objectives& other) { return Dominates(other, points[i]); };
    if (std::none_of(points.begin(), points.end(), dominates)) front.push_back(i);
  }
  return front;
}

double Hypervolume2D(std::span<const Objectives> points, std::span<const double> reference) {
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

}  // namespace tributary
