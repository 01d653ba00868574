#include "tributary/plot/axes.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary::inline plot {
namespace {

using Labels = std::vector<std::string>;

TEST(NiceTicks, StandOnRoundNumbers) {
  EXPECT_EQ(NiceTicks(0, 1, 5).labels, (Labels{"0", "0.2", "0.4", "0.6", "0.8", "1.0"}));
  EXPECT_EQ(NiceTicks(0, 10, 5).labels, (Labels{"0", "2", "4", "6", "8", "10"}));
  EXPECT_EQ(NiceTicks(-0.3, 0.3, 3).labels, (Labels{"-0.2", "0", "0.2"}));
  EXPECT_EQ(NiceTicks(0, 60'000, 6).labels, (Labels{"0", "10k", "20k", "30k", "40k", "50k", "60k"}));
  EXPECT_EQ(NiceTicks(0, 2.5e6, 5).labels, (Labels{"0", "500k", "1000k", "1500k", "2000k", "2500k"}));
  EXPECT_EQ(NiceTicks(5, 5, 4).labels, (Labels{"5.00"}));
}

TEST(NiceTicks, AreInRangeAscendingAndAboutAsManyAsWanted) {
  for (double high = 0.00123; high < 1e8; high *= 1.37) {
    for (const double low : {0.0, -high / 3, high / 2}) {
      const Ticks ticks = NiceTicks(low, high, 6);
      EXPECT_GE(ticks.at.size(), 3U) << low << " to " << high;
      EXPECT_LE(ticks.at.size(), 12U) << low << " to " << high;
      ASSERT_EQ(ticks.labels.size(), ticks.at.size());
      EXPECT_GE(ticks.at.front(), low);
      EXPECT_LE(ticks.at.back(), high);
      for (std::size_t i = 1; i < ticks.at.size(); ++i) {
        EXPECT_GT(ticks.at[i], ticks.at[i - 1]);
        EXPECT_NE(ticks.labels[i], ticks.labels[i - 1]);
      }
    }
  }
}

TEST(NiceCountTicks, NeverSplitASample) {
  EXPECT_EQ(NiceCountTicks(3, 10).labels, (Labels{"0", "1", "2", "3"}));
  EXPECT_EQ(NiceCountTicks(0, 6).labels, (Labels{"0"}));
}

TEST(NiceLogTicks, StandOnPowersOfTenAndBetweenThemWhereThereIsRoom) {
  EXPECT_EQ(NiceLogTicks(1, 100, 6).labels, (Labels{"1", "2", "5", "10", "20", "50", "100"}));
  EXPECT_EQ(NiceLogTicks(0.5, 30'000, 6).labels, (Labels{"1", "10", "100", "1k", "10k"}));
  EXPECT_EQ(NiceLogTicks(0.01, 0.1, 6).labels, (Labels{"0.01", "0.02", "0.05", "0.1"}));
  EXPECT_EQ(NiceLogTicks(1e-6, 1e6, 6).at.size(), 7U);
  EXPECT_EQ(NiceLogTicks(3, 4, 5).labels, (Labels{"3.0", "3.2", "3.4", "3.6", "3.8", "4.0"}));
}

TEST(LinearScale, MapsEndsToEndsEvenUpsideDown) {
  const LinearScale scale{10, 20, 300, 100};
  EXPECT_EQ(scale(10), 300);
  EXPECT_EQ(scale(15), 200);
  EXPECT_EQ(scale(20), 100);
  EXPECT_EQ((LinearScale{1, 1, 5, 9})(1), 5);
}

}  // namespace
}  // namespace tributary::inline plot
