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

// How samples are divided so that every worker's shard fits its speed and looks like the whole (RCD-SGD).
struct SubmodularOptions {
  // One for each worker; only their ratios matter. Checked as by CheckSpeeds.
  std::vector<double> speeds;
  PartitionObjective objective = PartitionObjective::kMatchedCut;
  BlockChoice choice = BlockChoice::kFill;
  // Of the Gaussian kernel, for all classes. Not given: for each class the median distance of its samples, or of 2,048
  // of them drawn by the seed. Finite and above 0.
  std::optional<double> width;
  // What the division may take besides features and labels. Less makes it slower, not worse, except for facility
  // location: see below.
  Bytes memory{std::int64_t{1} << 30};
  std::uint64_t seed = 0;
};

struct SubmodularSplit {
  Partition partition;
  std::vector<double> objective;  // What each worker's blocks are worth, summed over the classes.
  std::vector<double> widths;     // Of the kernel of each class; 0 for a class without samples.
  std::uint64_t evaluations = 0;  // See class_greedy.h.
  int dense_classes = 0;          // Classes whose similarities were held in memory,
  int computed_classes = 0;       // those whose similarities were computed whenever they were needed,
  int nearest_classes = 0;        // and those for which only the nearest were kept,
  std::size_t neighbours = 0;     // so many for each sample, in the class that had least.
};

// Refuses what cannot be divided: features that fail CheckFeatures, labels outside [0, classes), bad speeds, a bad
// width, a class of more than kMostOfClass samples.
Status CheckSubmodular(const Features& features, std::span<const std::int32_t> labels, int classes,
                       const SubmodularOptions& options);

// Places every sample on exactly one worker: quotas in proportion to speed (see SpeedQuotas), and for each class by
// itself the greedy of class_greedy.h. Where a class has fewer samples than workers, some get none of it; each has a
// sample of some class.
//
// The similarities of as many classes as fit `options.memory` are held at once. A class that does not fit by itself is
// divided without holding them: cuts compute them row by row, with the same result; facility location, which asks for
// rows far more often, keeps for each sample the nearest alone, as many as fit and at most 256, and is then an
// approximation. Refused where even 16 do not fit.
//
// Depends on features, labels and options alone: not on how `parallel` runs things, and not on the machine.
StatusOr<SubmodularSplit> SplitSubmodular(const Features& features, std::span<const std::int32_t> labels,
                                          int classes, const SubmodularOptions& options,
                                          const ParallelFor& parallel = RunInOrder);

// What each worker's samples are worth under an objective, summed over the classes, however they were chosen. For
// matched-cut, a block's share of its class is what it holds. widths[c] is that of the kernel of class c. Takes a copy
// of the features and no more.
std::vector<double> MeasureWorth(const Features& features, std::span<const std::int32_t> labels,
                                 const Partition& partition, PartitionObjective objective,
                                 std::span<const double> widths, const ParallelFor& parallel = RunInOrder);

}  // namespace tributary::inline policy
