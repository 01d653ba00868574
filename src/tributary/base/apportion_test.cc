#include "tributary/base/apportion.h"

#include <gtest/gtest.h>

#include <numeric>

#include "tributary/base/rng.h"

namespace tributary::inline base {
namespace {

using Counts = std::vector<std::size_t>;

TEST(DivideByShares, GivesTheRestToTheLargestRemainders) {
  EXPECT_EQ(DivideByShares(10, std::vector{0.55, 0.25, 0.2}), (Counts{6, 2, 2}));
  EXPECT_EQ(DivideByShares(10, std::vector{0.14, 0.57, 0.29}), (Counts{1, 6, 3}));
  EXPECT_EQ(DivideByShares(7, std::vector{0.0, 3.0, 0.0}), (Counts{0, 7, 0}));
  EXPECT_EQ(DivideByShares(0, std::vector{1.0, 1.0}), (Counts{0, 0}));
}

TEST(DivideByShares, EqualRemaindersFavourTheEarlierPart) {
  EXPECT_EQ(DivideByShares(5, std::vector{1.0, 1.0, 1.0, 1.0}), (Counts{2, 1, 1, 1}));
}

TEST(DivideByShares, SumsToTheTotalWithinOneOfExact) {
  Rng rng(7);
  for (int trial = 0; trial < 500; ++trial) {
    std::vector<double> shares(1 + rng.Below(30));
    for (double& share : shares) share = rng.Uniform() * rng.Uniform() + 1e-12;
    const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
    const std::size_t total = rng.Below(5000);
    const Counts counts = DivideByShares(total, shares);
    EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), std::size_t{0}), total);
    for (std::size_t i = 0; i < shares.size(); ++i) {
      EXPECT_NEAR(static_cast<double>(counts[i]), static_cast<double>(total) * shares[i] / sum, 1.0);
    }
  }
}

TEST(DivideEvenly, PutsTheLargerPartsFirst) {
  EXPECT_EQ(DivideEvenly(11, 4), (Counts{3, 3, 3, 2}));
  EXPECT_EQ(DivideEvenly(2, 4), (Counts{1, 1, 0, 0}));
}

}  // namespace
}  // namespace tributary::inline base
