#include "tributary/policy/partitioning/feature_distance.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/policy/partitioning/similarities.h"

namespace tributary::inline policy {
namespace {

constexpr std::size_t kDistanceWidthSamples = 4096;
// Panels of one worker that are compared with all others together.
constexpr std::size_t kPanelsTogether = 8;

Partition DrawShare(const Partition& partition, std::size_t most, std::uint64_t seed) {
  std::size_t samples = 0;
  for (const auto& shard : partition) samples += shard.size();
  if (most == 0 || samples <= most) return partition;
  Partition drawn(partition.size());
  for (std::size_t j = 0; j < partition.size(); ++j) {
    if (partition[j].empty()) continue;
    std::vector<std::uint32_t> shard = partition[j];
    Rng rng = Rng::ForStream(seed, DeviceId{j}, "feature distance");
    const auto share = static_cast<double>(most) / static_cast<double>(samples);
    const auto kept =
        std::max<std::size_t>(1, static_cast<std::size_t>(share * static_cast<double>(shard.size())));
    Shuffle(rng, std::span(shard));
    shard.resize(kept);
    std::ranges::sort(shard);
    drawn[j] = std::move(shard);
  }
  return drawn;
}

// Panels of one worker, whose similarities with all later panels are summed together.
struct PanelRun {
  std::size_t worker = 0, first = 0, end = 0;
};

// Sums of similarities between shards: sums[j][k] is over all pairs of a sample of j and a sample of k.
class ShardSums {
 public:
  ShardSums(const Features& features, const Partition& partition, float factor) : factor_(factor) {
    for (std::size_t j = 0; j < partition.size(); ++j) {
      shards_.emplace_back(features, partition[j]);
      for (std::size_t p = 0; p < shards_[j].panels(); p += kPanelsTogether) {
        runs_.push_back({j, p, std::min(p + kPanelsTogether, shards_[j].panels())});
      }
    }
  }

  std::vector<std::vector<double>> Compute(const ParallelFor& parallel) const {
    std::vector<std::vector<double>> of_runs(runs_.size());
    parallel(runs_.size(), [&](std::size_t i) { of_runs[i] = ComputeRun(runs_[i]); });
    std::vector<std::vector<double>> sums(shards_.size(), std::vector<double>(shards_.size(), 0));
    for (std::size_t i = 0; i < runs_.size(); ++i) {  // in order, so that rounding is reproducible
      for (std::size_t k = 0; k < shards_.size(); ++k) sums[runs_[i].worker][k] += of_runs[i][k];
    }
    for (std::size_t j = 0; j < shards_.size(); ++j) {
      for (std::size_t k = 0; k < j; ++k) sums[j][k] = sums[k][j];
    }
    return sums;
  }

 private:
  // Sums with the run's own shard, starting at its own panels, and with all later shards. Pairs within a
  // shard count twice, except on the diagonal.
  std::vector<double> ComputeRun(const PanelRun& run) const {
    const Panels& rows = shards_[run.worker];
    std::vector<double> sums(shards_.size(), 0);
    for (std::size_t k = run.worker; k < shards_.size(); ++k) {
      const Panels& columns = shards_[k];
      for (std::size_t q = k == run.worker ? run.first : 0; q < columns.panels(); ++q) {
        for (std::size_t p = run.first; p < run.end; ++p) {
          if (k != run.worker) {
            sums[k] += BlockSum(rows, p, columns, q);
          } else if (p <= q) {
            sums[k] += (p == q ? 1.0 : 2.0) * BlockSum(rows, p, columns, q);
          }
        }
      }
    }
    return sums;
  }

  double BlockSum(const Panels& rows, std::size_t p, const Panels& columns, std::size_t q) const {
    float block[kPanel * kPanel];
    PanelSquares(rows.panel(p), columns.panel(q), rows.dimensions(), block);
    ExpOfNegative(factor_, block);
    const std::size_t height = std::min(kPanel, rows.samples() - p * kPanel);
    const std::size_t width = std::min(kPanel, columns.samples() - q * kPanel);
    double by_column[kPanel] = {};
    for (std::size_t r = 0; r < height; ++r) {
      for (std::size_t c = 0; c < kPanel; ++c) by_column[c] += static_cast<double>(block[r * kPanel + c]);
    }
    return std::accumulate(by_column, by_column + width, 0.0);
  }

  float factor_;
  std::vector<Panels> shards_;
  std::vector<PanelRun> runs_;
};

}  // namespace

FeatureDistance MeasureFeatureDistance(const Features& features, const Partition& partition, std::size_t most,
                                       std::uint64_t seed, const ParallelFor& parallel) {
  FeatureDistance result;
  std::vector<std::uint32_t> all(features.samples());
  std::iota(all.begin(), all.end(), 0U);
  result.width = MedianDistance(features, all, kDistanceWidthSamples,
                                Rng::ForStream(seed, DeviceId{0}, "feature distance width"));
  const Partition drawn = DrawShare(partition, most, seed);
  for (const auto& shard : drawn) result.samples += shard.size();
  const auto sums = ShardSums(features, drawn, KernelFactor(result.width)).Compute(parallel);

  const auto total = static_cast<double>(result.samples);
  double whole = 0;
  for (const auto& row : sums) whole = std::accumulate(row.begin(), row.end(), whole);
  for (std::size_t j = 0; j < drawn.size(); ++j) {
    const auto size = static_cast<double>(drawn[j].size());
    const double to_all = std::accumulate(sums[j].begin(), sums[j].end(), 0.0);
    const double square =
        size == 0 ? 0 : sums[j][j] / (size * size) - 2 * to_all / (size * total) + whole / (total * total);
    result.distance.push_back(std::sqrt(std::max(0.0, square)));
  }
  return result;
}

}  // namespace tributary::inline policy
