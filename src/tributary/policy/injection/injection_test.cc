#include "tributary/policy/injection/injection.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace tributary::inline policy {
namespace {

std::size_t Sharing(const std::vector<std::size_t>& shares) {
  return shares.size() - static_cast<std::size_t>(std::ranges::count(shares, std::size_t{0}));
}

TEST(Injection, IsOffByDefaultAndForNobody) {
  const std::vector<std::size_t> batches(10, 64);
  EXPECT_TRUE(SharesOf({}, batches, 1, RoundId{1}).empty());
  EXPECT_TRUE(SharesOf({0, 0.5}, batches, 1, RoundId{1}).empty());
  EXPECT_TRUE(SharesOf({0.5, 0.5}, {}, 1, RoundId{1}).empty());
}

TEST(Injection, DrawsTheShareOfThoseAskedButAtLeastOne) {
  const std::vector<std::size_t> batches(10, 64);
  for (const auto& [devices, expected] : std::vector<std::pair<double, std::size_t>>{
           {0.001, 1}, {0.1, 1}, {0.25, 3}, {0.5, 5}, {0.74, 7}, {1, 10}}) {
    for (std::uint64_t round = 1; round < 50; ++round) {
      EXPECT_EQ(Sharing(SharesOf({devices, 0.5}, batches, 3, RoundId{round})), expected) << devices;
    }
  }
}

TEST(Injection, SharesItsPartOfEachBatch) {
  const std::vector<std::size_t> batches = {8, 100, 64, 1, 1024};
  EXPECT_EQ(SharesOf({1, 0.1}, batches, 1, RoundId{1}), (std::vector<std::size_t>{1, 10, 6, 0, 102}));
  EXPECT_EQ(SharesOf({1, 1}, batches, 1, RoundId{1}), batches);
  EXPECT_EQ(SharesOf({1, 0}, batches, 1, RoundId{1}), std::vector<std::size_t>(5, 0));
}

TEST(Injection, IsAFunctionOfSeedAndRoundAndFair) {
  const std::vector<std::size_t> batches(10, 64);
  EXPECT_EQ(SharesOf({0.3, 0.5}, batches, 7, RoundId{4}), SharesOf({0.3, 0.5}, batches, 7, RoundId{4}));
  EXPECT_NE(SharesOf({0.3, 0.5}, batches, 7, RoundId{4}), SharesOf({0.3, 0.5}, batches, 7, RoundId{5}));
  // 4,000 rounds of 3 of 10: each device about 1,200 times, within five standard deviations.
  std::vector<int> times(10, 0);
  for (std::uint64_t round = 0; round < 4000; ++round) {
    const auto shares = SharesOf({0.3, 0.5}, batches, 5, RoundId{round});
    for (std::size_t i = 0; i < shares.size(); ++i) times[i] += shares[i] > 0;
  }
  for (const int count : times) EXPECT_NEAR(count, 1200, 5 * std::sqrt(4000 * 0.3 * 0.7));
}

}  // namespace
}  // namespace tributary::inline policy
