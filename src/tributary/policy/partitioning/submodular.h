#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "tributary/base/parallel_for.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/policy/partitioning/class_greedy.h"
#include "tributary/policy/partitioning/features.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary::inline policy {

// Divides samples so that every worker's shard fits its speed and is distributed like all samples (RCD-SGD).
struct SubmodularOptions {
  // One per worker; only ratios matter. See CheckSpeeds.
  std::vector<double> speeds;
  PartitionObjective objective = PartitionObjective::kMatchedCut;
  BlockChoice choice = BlockChoice::kFill;
  // Kernel width for all classes. Default: per class the median distance of its samples, or of 2,048 of them
  // drawn by the seed. Finite and above 0.
  std::optional<double> width;
  // Memory limit besides features and labels. Less is slower; with facility location, see below, also worse.
  Bytes memory{std::int64_t{1} << 30};
  std::uint64_t seed = 0;
};

struct SubmodularSplit {
  Partition partition;
  std::vector<double> objective;  // value of each worker's blocks, summed over the classes
  std::vector<double> widths;     // kernel width of each class; 0 for a class without samples
  std::uint64_t evaluations = 0;  // see class_greedy.h
  int dense_classes = 0;          // classes whose similarities were held in memory
  int computed_classes = 0;       // classes whose similarities were recomputed on demand
  int nearest_classes = 0;        // classes for which only the nearest neighbours were kept
  std::size_t neighbours = 0;     // per sample, in the class with the fewest
};

// Refuses features that fail CheckFeatures, labels outside [0, classes), bad speeds, a bad width, and a class
// of more than kMostOfClass samples.
Status CheckSubmodular(const Features& features, std::span<const std::int32_t> labels, int classes,
                       const SubmodularOptions& options);

// Places every sample on exactly one worker: quotas in proportion to speed (SpeedQuotas), and the greedy of
// class_greedy.h for each class. Each worker has samples, but not of every class if classes are small.
//
// As many classes as fit into `options.memory` are processed at once. A class that does not fit by itself is
// divided without storing its similarities: cuts recompute rows, with the same result; facility location,
// which needs rows far more often, keeps only the nearest neighbours of each sample, as many as fit up to
// 256, and is then an approximation. Refused if not even 16 fit.
//
// Bit-identical for any `parallel` and on every machine.
StatusOr<SubmodularSplit> SplitSubmodular(const Features& features, std::span<const std::int32_t> labels,
                                          int classes, const SubmodularOptions& options,
                                          const ParallelFor& parallel = RunInOrder);

// The value of each worker's samples under an objective, summed over the classes, for any partition; with
// matched-cut for its actual shares. widths[c] is the kernel width of class c. Copies the features.
std::vector<double> MeasureWorth(const Features& features, std::span<const std::int32_t> labels,
                                 const Partition& partition, PartitionObjective objective,
                                 std::span<const double> widths, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary::inline policy
