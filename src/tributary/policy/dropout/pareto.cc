#include "tributary/policy/dropout/pareto.h"

#include <algorithm>
#include <limits>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary::inline policy {
namespace {

// Whether a member of the front dominates the point. Members precede the point in lexicographic order; with
// two objectives the last member is then the lowest, and testing it suffices.
bool IsDominated(std::span<const Objectives> points, const std::vector<std::size_t>& front,
                 std::size_t point) {
  if (points[point].size() == 2) return Dominates(points[front.back()], points[point]);
  return std::any_of(front.rbegin(), front.rend(),
                     [&](std::size_t member) { return Dominates(points[member], points[point]); });
}

}  // namespace

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

std::vector<std::vector<std::size_t>> NonDominatedSort(std::span<const Objectives> points) {
  std::vector<std::size_t> order(points.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  // In this order no point is dominated by a later one, so every point finds its front at once.
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return points[a] < points[b]; });
  std::vector<std::vector<std::size_t>> fronts;
  for (const std::size_t point : order) {
    // A point dominated by a front is dominated by all better fronts.
    const auto front = std::ranges::partition_point(
        fronts, [&](const std::vector<std::size_t>& members) { return IsDominated(points, members, point); });
    if (front == fronts.end()) {
      fronts.push_back({point});
    } else {
      front->push_back(point);
    }
  }
  for (std::vector<std::size_t>& front : fronts) std::sort(front.begin(), front.end());
  return fronts;
}

std::vector<double> CrowdingDistances(std::span<const Objectives> points,
                                      std::span<const std::size_t> front) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  std::vector<double> distances(front.size(), 0.0);
  if (front.empty()) return distances;
  std::vector<std::size_t> order(front.size());
  for (std::size_t objective = 0; objective < points[front[0]].size(); ++objective) {
    const auto value = [&](std::size_t member) { return points[front[member]][objective]; };
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return value(a) < value(b); });
    distances[order.front()] = kInfinite;
    distances[order.back()] = kInfinite;
    // Halved, because the difference of huge values could overflow.
    const double extent = value(order.back()) / 2 - value(order.front()) / 2;
    if (!(extent > 0)) continue;
    for (std::size_t i = 1; i + 1 < order.size(); ++i) {
      distances[order[i]] += (value(order[i + 1]) / 2 - value(order[i - 1]) / 2) / extent;
    }
  }
  return distances;
}

double Hypervolume2D(std::span<const Objectives> points, std::span<const double> reference) {
  TRIBUTARY_CHECK(reference.size() == 2);
  std::vector<std::pair<double, double>> inside;
  for (const Objectives& point : points) {
    TRIBUTARY_CHECK(point.size() == 2);
    if (point[0] < reference[0] && point[1] < reference[1]) inside.emplace_back(point[0], point[1]);
  }
  std::sort(inside.begin(), inside.end());
  // From left to right, each point adds the strip between its value and the lowest so far.
  double area = 0;
  double lowest = reference[1];
  for (const auto& [x, y] : inside) {
    if (y >= lowest) continue;
    area += (reference[0] - x) * (lowest - y);
    lowest = y;
  }
  return area;
}

}  // namespace tributary::inline policy
