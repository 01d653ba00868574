#include <algorithm>
#include <cmath>
#include <vector>

#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/aggregation/rows.h"

namespace tributary::inline policy {
namespace {

constexpr int kClippings = 3;

// A point in the space of updates: `median` times their coordinate-wise median, and a share of each of them. Every centre
// is such a point, so it is known by n + 1 numbers and no centre is stored.
struct ClippingCentre {
  double median = 1;
  std::vector<double> shares;

  // Its elements. Sorts the rows.
  std::vector<double> Elements(std::span<const std::span<float>> rows) const {
    std::vector<double> elements(rows.front().size());
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (std::size_t k = 0; k < elements.size(); ++k)
        elements[k] += shares[i] * static_cast<double>(rows[i][k]);
    }
    std::vector<float> middle(elements.size());
    MedianOfRows(rows, middle);
    for (std::size_t k = 0; k < elements.size(); ++k) elements[k] += median * static_cast<double>(middle[k]);
    return elements;
  }
};

// The distance of each update from the centre.
StatusOr<std::vector<double>> DistancesFrom(const ClippingCentre& centre, const RoundUpdates& updates) {
  std::vector<double> distances(updates.size());
  TRIBUTARY_RETURN_IF_ERROR(updates.ForEachBlock([&](auto rows) {
    std::vector<std::vector<float>> copies;
    for (const std::span<float> row : rows) copies.emplace_back(row.begin(), row.end());
    const std::vector<double> elements = centre.Elements(rows);
    for (std::size_t i = 0; i < copies.size(); ++i) {
      for (std::size_t k = 0; k < elements.size(); ++k) {
        const double difference = static_cast<double>(copies[i][k]) - elements[k];
        distances[i] += difference * difference;
      }
    }
  }));
  for (double& distance : distances) distance = std::sqrt(distance);
  return distances;
}

double MiddleDistance(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t n = values.size();
  return (values[(n - 1) / 2] + values[n / 2]) / 2;
}

// Moves the centre by the mean of the differences of all updates from it, of which none is longer than the radius.
void MoveCentre(std::span<const double> distances, double radius, ClippingCentre& centre) {
  const auto n = static_cast<double>(distances.size());
  double moved = 0;
  std::vector<double> parts;
  for (const double distance : distances) {
    parts.push_back((distance > radius ? radius / distance : 1) / n);
    moved += parts.back();
  }
  centre.median *= 1 - moved;
  for (std::size_t i = 0; i < parts.size(); ++i) centre.shares[i] = centre.shares[i] * (1 - moved) + parts[i];
}

StatusOr<RoundCombination> CentredClipping(double multiple, const RoundUpdates& updates) {
  ClippingCentre centre{.shares = std::vector<double>(updates.size())};
  double radius = 0;
  for (int i = 0; i < kClippings; ++i) {
    TRIBUTARY_ASSIGN_OR_RETURN(const std::vector<double> distances, DistancesFrom(centre, updates));
    if (i == 0) radius = multiple * MiddleDistance(distances);
    MoveCentre(distances, radius, centre);
  }
  return RoundCombination{[centre](auto rows, auto, auto out) {
                            std::ranges::transform(centre.Elements(rows), out.begin(),
                                                   [](double value) { return static_cast<float>(value); });
                          },
                          [](auto rows, auto, auto out) { MedianOfRows(rows, out); }};
}

}  // namespace

// Centred clipping (Karimireddy et al., 2021). The centre moves three times by the mean of the differences of all updates
// from it, each clipped to a radius. It starts at the coordinate-wise median and not, as published, at the result of the last
// round: so nothing is kept between rounds, and a fleet whose updates shrink needs no other radius. The radius is `radius`
// times the median distance of the updates from their median. The result is never farther than three radii from the median.
// All updates count, clipped by the distance of their parameters; statistics have no such distance and are the median of all.
// Weights do not count, as in the trimmed mean. An element that top-k left out is zero, in distances too. Three passes over
// all updates before the last; memory is twice the blocks.
AggregationRule CentredClippingRule() {
  return {.name = "centred-clipping",
          .about = "centred clipping",
          .make = [](const AggregationScene& scene) -> StatusOr<std::unique_ptr<Aggregator>> {
            return MakeStoredAggregator(scene, [multiple = scene.numbers[0]](const RoundUpdates& updates) {
              return CentredClipping(multiple, updates);
            });
          },
          .numbers = {{.key = "radius",
                       .about = "Clipping radius, in median distances of the updates from their median.",
                       .usual = 1,
                       .low = 0,
                       .high = 100}}};
}

}  // namespace tributary::inline policy
