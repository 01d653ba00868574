#include <algorithm>
#include <numeric>
#include <vector>

#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/aggregation/rows.h"

namespace tributary::inline policy {
namespace {

double SquaredDistance(std::span<const float> a, std::span<const float> b) {
  return SumOfTerms(a, b, [](double x, double y) { return (x - y) * (x - y); });
}

// The n × n squared distances of the updates.
StatusOr<std::vector<double>> SquaredDistances(const RoundUpdates& updates) {
  const std::size_t n = updates.size();
  std::vector<double> distances(n * n);
  TRIBUTARY_RETURN_IF_ERROR(updates.ForEachBlock([&](auto rows) {
    for (std::size_t i = 0; i < n; ++i) {
      for (std::size_t j = i + 1; j < n; ++j) distances[i * n + j] += SquaredDistance(rows[i], rows[j]);
    }
  }));
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t j = 0; j < i; ++j) distances[i * n + j] = distances[j * n + i];
  }
  return distances;
}

// Which of the updates count, in their order.
std::vector<std::size_t> KeptUpdates(double byzantine, std::size_t n, std::vector<double> distances) {
  const std::size_t hostile = ShareOf(byzantine, n);
  // Of a fleet too small for the guarantee, each update still has one neighbour.
  const std::size_t neighbours = std::min(n > hostile + 2 ? n - hostile - 2 : 1, n - 1);
  std::vector<double> scores(n);
  for (std::size_t i = 0; i < n; ++i) {
    const std::span<double> row = std::span(distances).subspan(i * n, n);
    row[i] = row.back();  // It is no neighbour of its own.
    const auto others = row.first(n - 1);
    std::ranges::sort(others);
    scores[i] =
        std::accumulate(others.begin(), others.begin() + static_cast<std::ptrdiff_t>(neighbours), 0.0);
  }
  std::vector<std::size_t> kept(n);
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  std::ranges::stable_sort(kept, {}, [&](std::size_t i) { return scores[i]; });
  kept.resize(n - hostile);
  std::ranges::sort(kept);
  return kept;
}

StatusOr<RoundCombination> MultiKrum(double byzantine, const RoundUpdates& updates) {
  TRIBUTARY_ASSIGN_OR_RETURN(std::vector<double> distances, SquaredDistances(updates));
  const std::vector<std::size_t> kept = KeptUpdates(byzantine, updates.size(), std::move(distances));
  const auto of_kept = [&kept](auto combine) -> CombineUpdates {
    return [kept, combine](auto rows, auto, auto out) {
      std::vector<std::span<float>> chosen;
      for (const std::size_t i : kept) chosen.push_back(rows[i]);
      combine(chosen, out);
    };
  };
  return RoundCombination{of_kept(MeanOfRows), of_kept(MedianOfRows)};
}

}  // namespace

// Multi-Krum (Blanchard et al., 2017). Of n updates, f = byzantine · n may be hostile. The score of an update is the sum of
// its squared distances to the n - f - 2 nearest others. The n - f updates with the lowest scores count, equal scores in the
// order of devices; the others do not. Parameters are the mean of those that count. Their statistics cannot be compared by
// distance and a device can send good parameters with bad statistics, so statistics are the median of those that count.
// Weights do not count, as in the trimmed mean. An element that top-k left out is zero, in distances too. One pass over all
// updates and n² / 2 distances before the mean; memory is n × n doubles.
AggregationRule MultiKrumRule() {
  return {.name = "multi-krum",
          .about = "Multi-Krum",
          .make = [](const AggregationScene& scene) -> StatusOr<std::unique_ptr<Aggregator>> {
            return MakeStoredAggregator(scene, [byzantine = scene.numbers[0]](const RoundUpdates& updates) {
              return MultiKrum(byzantine, updates);
            });
          },
          .numbers = {{.key = "byzantine",
                       .about = "Share of the updates that may be hostile, rounded up.",
                       .usual = 0.2,
                       .low = 0,
                       .high = 0.5}}};
}

}  // namespace tributary::inline policy
