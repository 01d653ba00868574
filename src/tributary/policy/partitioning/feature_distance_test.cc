#include "tributary/policy/partitioning/feature_distance.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tributary/policy/partitioning/label_splits.h"
#include "tributary/policy/partitioning/testing_features.h"

namespace tributary::inline policy {
namespace {

double DistanceBetween(const Features& features, std::size_t a, std::size_t b) {
  double sum = 0;
  for (std::size_t k = 0; k < features.dimensions; ++k) {
    const double difference =
        static_cast<double>(features.Row(a)[k]) - static_cast<double>(features.Row(b)[k]);
    sum += difference * difference;
  }
  return std::sqrt(sum);
}

// From the definition, in doubles.
double DirectDistance(const Features& features, const std::vector<std::uint32_t>& shard, double width) {
  const std::vector<std::uint32_t> all = AllOf(features);
  const auto mean = [&](const std::vector<std::uint32_t>& from, const std::vector<std::uint32_t>& to) {
    double sum = 0;
    for (const std::uint32_t a : from) {
      for (const std::uint32_t b : to)
        sum += std::exp(-std::pow(DistanceBetween(features, a, b) / width, 2) / 2);
    }
    return sum / static_cast<double>(from.size() * to.size());
  };
  return std::sqrt(mean(shard, shard) - 2 * mean(shard, all) + mean(all, all));
}

TEST(MeasureFeatureDistance, IsTheBiasedDiscrepancyUnderTheMedianWidth) {
  for (const std::size_t samples : {5U, 200U, 431U}) {
    const ClusteredSamples made = MakeClusters(samples, samples, 5, 2);
    std::vector<double> distances;
    for (std::size_t a = 0; a < samples; ++a) {
      for (std::size_t b = 0; b < a; ++b) distances.push_back(DistanceBetween(made.features(), a, b));
    }
    std::ranges::sort(distances);
    const double median = (distances[distances.size() / 2] + distances[(distances.size() - 1) / 2]) / 2;
    Partition partition(3);
    for (std::uint32_t i = 0; i < samples; ++i)
      partition[i < 3 ? i : (i % 7 == 0 ? 1 : (i % 3 == 0 ? 2 : 0))].push_back(i);
    const FeatureDistance found = MeasureFeatureDistance(made.features(), partition, 0, 0);
    EXPECT_NEAR(found.width, median, 1e-5 * median);
    EXPECT_EQ(found.samples, samples);
    for (std::size_t j = 0; j < 3; ++j) {
      EXPECT_NEAR(found.distance[j], DirectDistance(made.features(), partition[j], median), 1e-5);
    }
  }
}

TEST(MeasureFeatureDistance, IsZeroForTheWholeAndForNothing) {
  const ClusteredSamples made = MakeClusters(1, 100, 4, 2);
  const FeatureDistance found = MeasureFeatureDistance(made.features(), {AllOf(made.features()), {}}, 0, 0);
  EXPECT_NEAR(found.distance[0], 0, 1e-7);
  EXPECT_EQ(found.distance[1], 0);
}

TEST(MeasureFeatureDistance, TakesAShareOfEveryShardWhereThereAreTooMany) {
  const ClusteredSamples made = MakeClusters(2, 3000, 4, 2);
  Rng rng(1);
  const Partition partition = SplitIid(3000, 4, rng);
  const FeatureDistance all = MeasureFeatureDistance(made.features(), partition, 0, 0);
  const FeatureDistance some = MeasureFeatureDistance(made.features(), partition, 1000, 0);
  EXPECT_EQ(all.samples, 3000U);
  EXPECT_EQ(some.samples, 1000U);
  EXPECT_EQ(MeasureFeatureDistance(made.features(), partition, 3000, 0).distance, all.distance);
  EXPECT_EQ(MeasureFeatureDistance(made.features(), partition, 1000, 0).distance, some.distance);
  EXPECT_NE(MeasureFeatureDistance(made.features(), partition, 1000, 1).distance, some.distance);
}

}  // namespace
}  // namespace tributary::inline policy
