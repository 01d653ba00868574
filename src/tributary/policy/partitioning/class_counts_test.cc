#include "tributary/policy/partitioning/class_counts.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

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
}  // namespace tributary
