#include "tributary/policy/mixing/speed_batches.h"

#include <gtest/gtest.h>

#include <numeric>

namespace tributary {
namespace {

TEST(SpeedBatches, FollowSpeedAndKeepTheMean) {
  EXPECT_EQ(SpeedBatches(16, std::vector<double>{1, 1, 1, 1}), (std::vector<std::size_t>{16, 16, 16, 16}));
  EXPECT_EQ(SpeedBatches(16, std::vector<double>{4, 2, 1, 1}), (std::vector<std::size_t>{32, 16, 8, 8}));
  // 30 samples at 2 : 1 : 1 are 15, 7.5 and 7.5; the odd one goes to the first of equals.
  EXPECT_EQ(SpeedBatches(10, std::vector<double>{2, 1, 1}), (std::vector<std::size_t>{15, 8, 7}));
}

TEST(SpeedBatches, LeaveNobodyOut) {
  EXPECT_EQ(SpeedBatches(2, std::vector<double>{1e9, 1}), (std::vector<std::size_t>{4, 1}));
}

}  // namespace
}  // namespace tributary
