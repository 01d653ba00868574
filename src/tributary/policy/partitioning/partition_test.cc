#include "tributary/policy/partitioning/partition.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tributary::inline policy {
namespace {

using Counts = std::vector<std::size_t>;

TEST(GroupByClass, KeepsTheOrderOfSamples) {
  const std::vector<std::int32_t> labels = {2, 0, 2, 0, 0};
  EXPECT_EQ(GroupByClass(labels, 4), (SamplesByClass{{1, 3, 4}, {}, {0, 2}, {}}));
}

TEST(Deal, GivesEachHolderItsCount) {
  Rng rng(1);
  Partition partition(4);
  const std::vector<std::uint32_t> samples = {10, 11, 12, 13, 14, 15};
  Deal(samples, Counts{4, 0, 2}, Counts{3, 0, 1}, rng, partition);
  EXPECT_EQ(partition[0].size(), 0U);
  EXPECT_EQ(partition[1].size(), 2U);
  EXPECT_EQ(partition[2].size(), 0U);
  EXPECT_EQ(partition[3].size(), 4U);
}

TEST(ClassCounts, CountWhoHasWhat) {
  const std::vector<std::int32_t> labels = {0, 1, 1, 2, 0};
  const Partition partition = {{0, 1, 2}, {}, {3, 4}};
  EXPECT_EQ(CountClasses(partition, labels, 3),
            (std::vector<std::vector<std::int64_t>>{{1, 2, 0}, {0, 0, 0}, {1, 0, 1}}));
}

TEST(MeanSkew, IsZeroForAlikeAndNearTwoForDisjointDevices) {
  EXPECT_EQ(MeanSkew({{5, 5}, {20, 20}}), 0);
  EXPECT_DOUBLE_EQ(MeanSkew({{10, 0}, {0, 10}, {0, 0}}), 1);  // ½ of each class overall: |1 − ½| + |0 − ½|
  EXPECT_EQ(MeanSkew({}), 0);
}

}  // namespace

}  // namespace tributary::inline policy
