#include "tributary/policy/partitioning/block_worth.h"

#include <algorithm>
#include <numeric>

#include "tributary/policy/partitioning/class_greedy.h"
#include "tributary/policy/partitioning/similarities.h"

namespace tributary {
namespace {

std::vector<std::int64_t> WorthInClass(const Features& features, std::span<const std::uint32_t> samples,
                                       std::span<const std::uint32_t> holder, std::size_t workers,
                                       PartitionObjective objective, double width) {
  const Panels panels(features, samples);
  const ComputedSimilarities similarities(panels, width);
  std::vector<Similarity> scratch(ScratchFor(samples.size()));
  std::vector<std::size_t> held(workers, 0);
  for (const std::uint32_t worker : holder) ++held[worker];
  std::vector<std::int64_t> worth(workers, 0);
  std::vector<Similarity> best(workers);
  for (std::size_t i = 0; i < samples.size(); ++i) {
    const std::span<const Similarity> row = similarities.Row(i, scratch);
    if (objective == PartitionObjective::kFacilityLocation) {
      std::ranges::fill(best, Similarity{0});
      for (std::size_t k = 0; k < row.size(); ++k) best[holder[k]] = std::max(best[holder[k]], row[k]);
      for (std::size_t j = 0; j < workers; ++j) worth[j] += best[j];
      continue;
    }
    const std::uint32_t worker = holder[i];
    const std::int64_t sum = std::accumulate(row.begin(), row.end(), std::int64_t{0});
    std::int64_t within = 0;
    for (std::size_t k = 0; k < row.size(); ++k) within += holder[k] == worker ? row[k] : 0;
    worth[worker] += CutWeight(objective, sum, held[worker], samples.size()) - within;
  }
  return worth;
}

}  // namespace

std::vector<double> MeasureWorth(const Features& features, std::span<const std::int32_t> labels,
                                 const Partition& partition, PartitionObjective objective,
                                 std::span<const double> widths, const ParallelFor& parallel) {
  const SamplesByClass groups = GroupByClass(labels, static_cast<int>(widths.size()));
  std::vector<std::uint32_t> worker_of(labels.size());
  for (std::size_t j = 0; j < partition.size(); ++j) {
    for (const std::uint32_t sample : partition[j]) worker_of[sample] = static_cast<std::uint32_t>(j);
  }
  std::vector<std::vector<std::int64_t>> of_classes(groups.size());
  parallel(groups.size(), [&](std::size_t c) {
    std::vector<std::uint32_t> holder;
    for (const std::uint32_t sample : groups[c]) holder.push_back(worker_of[sample]);
    of_classes[c] = WorthInClass(features, groups[c], holder, partition.size(), objective, widths[c]);
  });
  std::vector<double> worth(partition.size(), 0);
  for (const auto& of_class : of_classes) {
    for (std::size_t j = 0; j < worth.size(); ++j) worth[j] += static_cast<double>(of_class[j]) / kAlike;
  }
  return worth;
}

}  // namespace tributary
