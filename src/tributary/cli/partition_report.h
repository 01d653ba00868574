#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "tributary/data/labelled_features.h"
#include "tributary/plot/shards.h"
#include "tributary/policy/partitioning/feature_distance.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary::inline cli {

struct PartitionReport {
  std::string method;
  Partition partition;
  std::vector<double> objective;  // per worker
  FeatureDistance distance;
  std::vector<std::vector<std::int64_t>> class_counts;
  // Nearest neighbours per sample in facility location; 0 if all similarities counted.
  std::size_t neighbours = 0;
};

// {"method", "assignment", "sizes", "objective", "class_counts", "feature_distance"}; also
// "feature_distance_samples" if distances use a sample, and "neighbours" if only neighbours counted. The
// distance of an empty worker is null.
nlohmann::ordered_json PartitionJson(const PartitionReport& report);

// The same JSON with one member per line.
std::string FormatPartitionJson(const PartitionReport& report);

// Samples of each worker in the plane of the first two principal components; at most 1000 per worker, fewer
// if there are many workers, selected by the seed.
ShardsChart ChartOfShards(const PartitionReport& report, const LabelledFeatures& features,
                          const std::string& title, std::uint64_t seed, const ParallelFor& parallel);

void PrintPartition(const PartitionReport& report);

}  // namespace tributary::inline cli
