#include "tributary/policy/partitioning/submodular.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tributary/base/worker_pool.h"
#include "tributary/policy/partitioning/class_greedy.h"
#include "tributary/policy/partitioning/feature_distance.h"
#include "tributary/policy/partitioning/label_splits.h"
#include "tributary/policy/partitioning/partition.h"
#include "tributary/policy/partitioning/testing_features.h"

namespace tributary::inline policy {
namespace {

constexpr PartitionObjective kAllObjectives[] = {
    PartitionObjective::kFacilityLocation, PartitionObjective::kGraphCut, PartitionObjective::kMatchedCut};

SubmodularOptions OptionsFor(std::vector<double> speeds,
                             PartitionObjective objective = PartitionObjective::kMatchedCut,
                             BlockChoice choice = BlockChoice::kFill) {
  SubmodularOptions options;
  options.speeds = std::move(speeds);
  options.objective = objective;
  options.choice = choice;
  return options;
}

SubmodularSplit Split(const ClusteredSamples& made, const SubmodularOptions& options,
                      const ParallelFor& parallel = RunInOrder) {
  auto split = SplitSubmodular(made.features(), made.labels, made.classes, options, parallel);
  EXPECT_TRUE(split.ok()) << split.status();
  return split.ok() ? *std::move(split) : SubmodularSplit{};
}

std::string Refusal(const ClusteredSamples& made, const SubmodularOptions& options) {
  const auto split = SplitSubmodular(made.features(), made.labels, made.classes, options);
  EXPECT_FALSE(split.ok());
  return split.status().message();
}

TEST(SplitSubmodular, PlacesEverySampleOnceWithExactQuotas) {
  const ClusteredSamples made = MakeClusters(1, 700, 6, 5);
  const std::vector<double> speeds = {4, 2.5, 1, 1};
  const SamplesByClass groups = GroupByClass(made.labels, 5);
  std::vector<std::size_t> sizes;
  for (const auto& group : groups) sizes.push_back(group.size());
  const auto quotas = SpeedQuotas(sizes, speeds);
  for (const PartitionObjective objective : kAllObjectives) {
    for (const BlockChoice choice : {BlockChoice::kRaw, BlockChoice::kFill}) {
      const SubmodularSplit split = Split(made, OptionsFor(speeds, objective, choice));
      std::vector<int> placed(700, 0);
      for (const auto& shard : split.partition) {
        EXPECT_TRUE(std::ranges::is_sorted(shard));
        for (const std::uint32_t sample : shard) ++placed[sample];
      }
      EXPECT_EQ(std::ranges::count(placed, 1), 700);
      const auto counts = CountClasses(split.partition, made.labels, 5);
      for (std::size_t j = 0; j < speeds.size(); ++j) {
        for (std::size_t c = 0; c < 5; ++c) EXPECT_EQ(counts[j][c], static_cast<std::int64_t>(quotas[c][j]));
      }
    }
  }
}

TEST(SplitSubmodular, ReportsTheWorthThatIsMeasured) {
  const ClusteredSamples made = MakeClusters(2, 400, 6, 3);
  for (const PartitionObjective objective : kAllObjectives) {
    const SubmodularSplit split = Split(made, OptionsFor({2, 1, 1}, objective));
    const auto worth = MeasureWorth(made.features(), made.labels, split.partition, objective, split.widths);
    for (std::size_t j = 0; j < 3; ++j) EXPECT_NEAR(split.objective[j], worth[j], 1e-9 * std::abs(worth[j]));
  }
}

TEST(SplitSubmodular, IsTheSameOnManyThreadsAndInAnyOrder) {
  const ClusteredSamples made = MakeClusters(3, 900, 7, 4);
  WorkerPool pool(3);
  const ParallelFor threads = [&pool](std::size_t parts, const std::function<void(std::size_t)>& body) {
    EXPECT_TRUE(pool.Run(parts, [&](std::size_t, std::size_t part) { return body(part), OkStatus(); }).ok());
  };
  const ParallelFor backwards = [](std::size_t parts, const std::function<void(std::size_t)>& body) {
    for (std::size_t part = parts; part-- > 0;) body(part);
  };
  for (const PartitionObjective objective : kAllObjectives) {
    const SubmodularOptions options = OptionsFor({3, 1, 1}, objective);
    const SubmodularSplit split = Split(made, options);
    EXPECT_EQ(Split(made, options, threads).partition, split.partition);
    EXPECT_EQ(Split(made, options, backwards).partition, split.partition);
    const FeatureDistance distance = MeasureFeatureDistance(made.features(), split.partition, 0, 0);
    EXPECT_EQ(MeasureFeatureDistance(made.features(), split.partition, 0, 0, threads).distance,
              distance.distance);
  }
}

TEST(SplitSubmodular, OfCutsIsTheSameInLittleMemory) {
  const ClusteredSamples made = MakeClusters(4, 1500, 7, 3);
  for (const PartitionObjective objective :
       {PartitionObjective::kGraphCut, PartitionObjective::kMatchedCut}) {
    SubmodularOptions options = OptionsFor({3, 1, 1}, objective);
    const SubmodularSplit split = Split(made, options);
    EXPECT_EQ(split.dense_classes, 3);
    options.memory = {800'000};  // One class of 500 at a time.
    const SubmodularSplit by_turns = Split(made, options);
    EXPECT_EQ(by_turns.dense_classes, 3);
    EXPECT_EQ(by_turns.partition, split.partition);
    options.memory = {200'000};
    const SubmodularSplit computed = Split(made, options);
    EXPECT_EQ(computed.computed_classes, 3);
    EXPECT_EQ(computed.partition, split.partition);
    EXPECT_EQ(computed.objective, split.objective);
  }
}

TEST(SplitSubmodular, OfFacilityLocationKeepsTheNearestInLittleMemory) {
  const ClusteredSamples made = MakeClusters(5, 1500, 7, 3);
  SubmodularOptions options = OptionsFor({3, 1, 1}, PartitionObjective::kFacilityLocation);
  const SubmodularSplit split = Split(made, options);
  options.memory = {500'000};
  const SubmodularSplit nearest = Split(made, options);
  EXPECT_EQ(nearest.nearest_classes, 3);
  EXPECT_GE(nearest.neighbours, 16U);
  EXPECT_LT(nearest.neighbours, 64U);
  const auto worth =
      MeasureWorth(made.features(), made.labels, nearest.partition, options.objective, nearest.widths);
  for (std::size_t j = 0; j < 3; ++j) EXPECT_GT(worth[j], 0.97 * split.objective[j]);
  options.memory = {100'000};
  EXPECT_NE(Refusal(made, options).find("allow more memory"), std::string::npos);
}

TEST(SplitSubmodular, IsNearerToTheWholeThanStratifiedShards) {
  const ClusteredSamples made = MakeClusters(6, 2000, 8, 5);
  const SamplesByClass groups = GroupByClass(made.labels, 5);
  for (const std::vector<double>& speeds :
       {std::vector<double>{4, 2, 1, 1}, std::vector<double>{1, 1, 1, 1}}) {
    double stratified = 0;
    for (std::uint64_t seed = 0; seed < 5; ++seed) {
      Rng rng(seed);
      const Partition random = SplitStratified(groups, speeds, rng);
      for (const double d : MeasureFeatureDistance(made.features(), random, 0, 0).distance)
        stratified += d / 5;
    }
    const auto of = [&](PartitionObjective objective) {
      double sum = 0;
      const SubmodularSplit split = Split(made, OptionsFor(speeds, objective));
      for (const double d : MeasureFeatureDistance(made.features(), split.partition, 0, 0).distance) sum += d;
      return sum / stratified;
    };
    EXPECT_LT(of(PartitionObjective::kMatchedCut), 0.5);
    EXPECT_LT(of(PartitionObjective::kFacilityLocation), 0.9);
  }
}

TEST(SplitSubmodular, GivesSmallClassesToSome) {
  ClusteredSamples made = MakeClusters(7, 60, 3, 2);
  for (std::size_t i = 0; i < 60; ++i) made.labels[i] = i < 2 ? 1 : 0;
  const SubmodularSplit split = Split(made, OptionsFor({1, 1, 1, 1}));
  for (const auto& shard : split.partition) EXPECT_EQ(shard.size(), 15U);
}

TEST(SplitSubmodular, DividesOneSampleOverOneWorker) {
  const ClusteredSamples made = MakeClusters(8, 1, 3, 1);
  const SubmodularSplit split = Split(made, OptionsFor({5}));
  EXPECT_EQ(split.partition, (Partition{{0}}));
  EXPECT_NE(Refusal(made, OptionsFor({1, 1})).find("2 workers for 1 sample;"), std::string::npos);
}

TEST(SplitSubmodular, RefusesWhatMakesNoSense) {
  ClusteredSamples made = MakeClusters(9, 30, 3, 2);
  EXPECT_NE(Refusal(made, OptionsFor({1, 0})).find("speed of worker 1 is 0"), std::string::npos);
  EXPECT_NE(Refusal(made, OptionsFor({-2, 1})).find("speed of worker 0 is -2"), std::string::npos);
  EXPECT_NE(Refusal(made, OptionsFor({1000, 1})).find("worker 1"), std::string::npos);
  SubmodularOptions options = OptionsFor({1, 1});
  options.width = 0;
  EXPECT_NE(Refusal(made, options).find("width of the kernel is 0"), std::string::npos);
  options = OptionsFor({1, 1});
  options.memory = {0};
  EXPECT_NE(Refusal(made, options).find("memory limit is 0"), std::string::npos);
  made.labels[3] = 2;
  EXPECT_NE(Refusal(made, OptionsFor({1, 1})).find("sample 3 has label 2"), std::string::npos);
  made.labels[3] = 0;
  made.values[10] = std::nanf("");
  EXPECT_NE(Refusal(made, OptionsFor({1, 1})).find("row 3, column 1"), std::string::npos);
  made.values[10] = 1e20F;
  EXPECT_NE(Refusal(made, OptionsFor({1, 1})).find("row 3, column 1"), std::string::npos);
  made.values[10] = 0;
  made.labels.pop_back();
  EXPECT_NE(Refusal(made, OptionsFor({1, 1})).find("features of 30 samples and labels of 29"),
            std::string::npos);
  made.values.clear();
  EXPECT_NE(Refusal(made, OptionsFor({1, 1})).find("no features"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline policy
