#include "tributary/policy/partitioning/submodular.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <string>

#include "tributary/policy/partitioning/similarities.h"

namespace tributary::inline policy {
namespace {

constexpr std::size_t kFewestNeighbours = 16, kMostNeighbours = 256;

// How one class is divided, and the memory needed.
struct ClassPlan {
  enum class Form { kDense, kComputed, kNearest };

  std::size_t label = 0;
  Form form = Form::kDense;
  std::size_t bytes = 0;
  std::size_t neighbours = 0;
};

StatusOr<ClassPlan> PlanClass(std::size_t label, std::size_t samples, std::size_t dimensions,
                              const SubmodularOptions& options) {
  const auto limit = static_cast<std::size_t>(options.memory.value);
  const std::size_t always = Panels::BytesFor(samples, dimensions) +
                             GreedyBytesFor(samples, options.speeds.size(), options.objective);
  ClassPlan plan;
  plan.label = label;
  plan.bytes = always + DenseSimilarities::BytesFor(samples);
  if (plan.bytes <= limit) return plan;
  std::size_t least = always;
  if (options.objective == PartitionObjective::kFacilityLocation) {
    plan.form = ClassPlan::Form::kNearest;
    plan.neighbours = std::min(kMostNeighbours, samples);
    const auto bytes = [&] { return always + NearestSimilarities::BytesFor(samples, plan.neighbours); };
    while (plan.neighbours > kFewestNeighbours && bytes() > limit) plan.neighbours -= kFewestNeighbours;
    least = bytes();
  } else {
    plan.form = ClassPlan::Form::kComputed;
  }
  plan.bytes = least;
  if (least <= limit) return plan;
  return ResourceExhausted("dividing class " + std::to_string(label) + ", " + std::to_string(samples) +
                           " samples of " + std::to_string(dimensions) + " numbers over " +
                           std::to_string(options.speeds.size()) + " workers, needs at least " +
                           FormatBytes({static_cast<std::int64_t>(least)}) + ", and the limit is " +
                           FormatBytes(options.memory) + "; allow more memory, or use fewer dimensions");
}

// A class being divided.
struct ClassWork {
  ClassPlan plan;
  std::unique_ptr<Panels> panels;
  std::unique_ptr<DenseSimilarities> dense;
  ClassBlocks blocks;
};

class Division {
 public:
  Division(const Features& features, const SamplesByClass& groups, const SubmodularOptions& options,
           const ParallelFor& parallel)
      : features_(features), groups_(groups), options_(options), parallel_(parallel) {
    std::vector<std::size_t> sizes;
    for (const auto& samples : groups) sizes.push_back(samples.size());
    quotas_ = SpeedQuotas(sizes, options.speeds);
    split_.partition.resize(options.speeds.size());
    split_.objective.assign(options.speeds.size(), 0);
  }

  StatusOr<SubmodularSplit> Run() && {
    std::vector<ClassPlan> plans;
    for (std::size_t label = 0; label < groups_.size(); ++label) {
      if (groups_[label].empty()) continue;
      TRIBUTARY_ASSIGN_OR_RETURN(plans.emplace_back(),
                                 PlanClass(label, groups_[label].size(), features_.dimensions, options_));
    }
    split_.widths = ClassWidths(features_, groups_, options_.width, options_.seed, parallel_);
    // As many classes at once as fit.
    const auto limit = static_cast<std::size_t>(options_.memory.value);
    for (std::size_t first = 0; first < plans.size();) {
      std::size_t end = first, bytes = 0;
      while (end < plans.size() && (end == first || bytes + plans[end].bytes <= limit))
        bytes += plans[end++].bytes;
      DivideTogether(std::span(plans).subspan(first, end - first));
      first = end;
    }
    split_.partition = WithSortedIndices(std::move(split_.partition));
    return std::move(split_);
  }

 private:
  void DivideTogether(std::span<const ClassPlan> plans) {
    std::vector<ClassWork> works(plans.size());
    std::vector<std::pair<std::size_t, std::size_t>> stripes;  // class and stripe
    for (std::size_t i = 0; i < plans.size(); ++i) {
      works[i].plan = plans[i];
      if (plans[i].form != ClassPlan::Form::kDense) continue;
      const std::size_t samples = groups_[plans[i].label].size();
      works[i].dense = std::make_unique<DenseSimilarities>(samples);
      for (std::size_t s = 0; s < DenseSimilarities::Stripes(samples); ++s) stripes.emplace_back(i, s);
    }
    parallel_(works.size(), [&](std::size_t i) {
      works[i].panels = std::make_unique<Panels>(features_, groups_[works[i].plan.label]);
    });
    // By stripes, so that one large class uses all threads.
    parallel_(stripes.size(), [&](std::size_t i) {
      const ClassWork& work = works[stripes[i].first];
      work.dense->FillStripe(*work.panels, split_.widths[work.plan.label], stripes[i].second);
    });
    parallel_(works.size(), [&](std::size_t i) { Divide(works[i]); });
    for (const ClassWork& work : works) Collect(work);
  }

  void Divide(ClassWork& work) const {
    const std::span<const std::size_t> quotas = quotas_[work.plan.label];
    const double width = split_.widths[work.plan.label];
    switch (work.plan.form) {
      case ClassPlan::Form::kDense:
        work.panels.reset();
        work.blocks = FillBlocks(*work.dense, quotas, options_.objective, options_.choice);
        work.dense.reset();
        return;
      case ClassPlan::Form::kComputed:
        work.blocks = FillBlocks(ComputedSimilarities(*work.panels, width), quotas, options_.objective,
                                 options_.choice);
        return;
      case ClassPlan::Form::kNearest:
        work.blocks = FillBlocks(NearestSimilarities(*work.panels, width, work.plan.neighbours), quotas,
                                 options_.choice);
        return;
    }
  }

  void Collect(const ClassWork& work) {
    const auto& samples = groups_[work.plan.label];
    for (std::size_t i = 0; i < samples.size(); ++i)
      split_.partition[work.blocks.holder[i]].push_back(samples[i]);
    for (std::size_t j = 0; j < split_.objective.size(); ++j) {
      split_.objective[j] += static_cast<double>(work.blocks.worth[j]) / kAlike;
    }
    split_.evaluations += work.blocks.evaluations;
    split_.dense_classes += work.plan.form == ClassPlan::Form::kDense ? 1 : 0;
    split_.computed_classes += work.plan.form == ClassPlan::Form::kComputed ? 1 : 0;
    if (work.plan.form != ClassPlan::Form::kNearest) return;
    ++split_.nearest_classes;
    split_.neighbours =
        split_.neighbours == 0 ? work.plan.neighbours : std::min(split_.neighbours, work.plan.neighbours);
  }

  const Features& features_;
  const SamplesByClass& groups_;
  const SubmodularOptions& options_;
  const ParallelFor& parallel_;
  std::vector<std::vector<std::size_t>> quotas_;
  SubmodularSplit split_;
};

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

Status CheckSubmodular(const Features& features, std::span<const std::int32_t> labels, int classes,
                       const SubmodularOptions& options) {
  TRIBUTARY_RETURN_IF_ERROR(CheckFeatures(features, labels.size()));
  TRIBUTARY_RETURN_IF_ERROR(CheckLabels(labels, classes));
  TRIBUTARY_RETURN_IF_ERROR(CheckSpeeds(options.speeds, labels.size()));
  if (options.width && !(std::isfinite(*options.width) && *options.width > 0)) {
    return InvalidArgument("the width of the kernel is " + std::to_string(*options.width) +
                           "; it must be a finite number above 0, a distance between samples");
  }
  if (options.memory.value < 1) {
    return InvalidArgument("the memory limit is " + std::to_string(options.memory.value) +
                           " bytes; it must be at least 1");
  }
  std::vector<std::size_t> sizes(static_cast<std::size_t>(classes), 0);
  for (const std::int32_t label : labels) ++sizes[static_cast<std::size_t>(label)];
  const auto largest = std::ranges::max_element(sizes);
  if (*largest <= kMostOfClass) return OkStatus();
  return ResourceExhausted("class " + std::to_string(largest - sizes.begin()) + " has " +
                           std::to_string(*largest) + " samples; at most " + std::to_string(kMostOfClass) +
                           " of a class are divided");
}

StatusOr<SubmodularSplit> SplitSubmodular(const Features& features, std::span<const std::int32_t> labels,
                                          int classes, const SubmodularOptions& options,
                                          const ParallelFor& parallel) {
  TRIBUTARY_RETURN_IF_ERROR(CheckSubmodular(features, labels, classes, options));
  const SamplesByClass groups = GroupByClass(labels, classes);
  return Division(features, groups, options, parallel).Run();
}

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

}  // namespace tributary::inline policy
