#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "tributary/data/labelled_features.h"
#include "tributary/plot/shards.h"
#include "tributary/policy/partitioning/feature_distance.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary::inline cli {

// What `tributary partition` found, for its file, its table and its picture.
struct PartitionReport {
  std::string method;
  Partition partition;
  std::vector<double> objective;  // Of each worker.
  FeatureDistance distance;
  std::vector<std::vector<std::int64_t>> class_counts;
  // Facility location over so many neighbours of each sample; 0 where all similarities counted.
  std::size_t neighbours = 0;
};

// {"method", "assignment", "sizes", "objective", "class_counts", "feature_distance"}. Where distances were taken over
// some of the samples only, also "feature_distance_samples"; where only neighbours counted, also "neighbours". Workers
// without samples have null for a distance.
nlohmann::ordered_json PartitionJson(const PartitionReport& report);

// The JSON with each of its members on a line of its own.
std::string FormatPartitionJson(const PartitionReport& report);

// Samples by worker, drawn by their first two principal components; a thousand points of each worker at most, fewer
// where workers are many, chosen by the seed.
ShardsChart ChartOfShards(const PartitionReport& report, const LabelledFeatures& features,
                          const std::string& title, std::uint64_t seed, const ParallelFor& parallel);

void PrintPartition(const PartitionReport& report);

}  // namespace tributary::inline cli
