
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "tributary/base/apportion.h"
#include "tributary/base/rng.h"
#include "tributary/policy/partitioning/label_splits.h"
#include "tributary/policy/partitioning/partition.h"

namespace tributary::inline policy {
namespace {

using Sizes = std::vector<std::size_t>;

std::vector<std::size_t> SumByWorker(const std::vector<Sizes>& quotas, std::size_t workers) {
  Sizes totals(workers, 0);
  for (const auto& of_class : quotas) {
    for (std::size_t j = 0; j < workers; ++j) totals[j] += of_class[j];
  }
  return totals;
}

TEST(SpeedQuotas, AreExactWhereSharesAreWhole) {
  EXPECT_EQ(SpeedQuotas(Sizes{80, 8, 0}, std::vector<double>{4, 2, 1, 1}),
            (std::vector<Sizes>{{40, 20, 10, 10}, {4, 2, 1, 1}, {0, 0, 0, 0}}));
}

TEST(SpeedQuotas, SpreadOddSamplesOverWorkers) {
  // Class by class, worker 0 would get the odd sample of each of the three classes.
  const auto quotas = SpeedQuotas(Sizes{4, 4, 4}, std::vector<double>{1, 1, 1});
  EXPECT_EQ(SumByWorker(quotas, 3), (Sizes{4, 4, 4}));
}

TEST(SpeedQuotas, AreRoundedSharesInEveryClassAndLargestRemaindersInTotal) {
  Rng rng(5);
  for (int trial = 0; trial < 400; ++trial) {
    Sizes sizes(1 + rng.Below(12));
    for (std::size_t& size : sizes) size = rng.Below(trial % 2 == 0 ? 12 : 3000);
    sizes[0] += 20;
    std::vector<double> speeds(1 + rng.Below(12));
    for (double& speed : speeds)
      speed = trial % 3 == 0 ? 1.0 + static_cast<double>(rng.Below(4)) : 0.05 + rng.Uniform();
    const auto quotas = SpeedQuotas(sizes, speeds);
    const double sum = std::accumulate(speeds.begin(), speeds.end(), 0.0);
    for (std::size_t c = 0; c < sizes.size(); ++c) {
      EXPECT_EQ(std::accumulate(quotas[c].begin(), quotas[c].end(), std::size_t{0}), sizes[c]);
      for (std::size_t j = 0; j < speeds.size(); ++j) {
        const double exact = static_cast<double>(sizes[c]) * speeds[j] / sum;
        EXPECT_GE(static_cast<double>(quotas[c][j]), std::floor(exact + 1e-9)) << trial;
        EXPECT_LE(static_cast<double>(quotas[c][j]), std::ceil(exact - 1e-9)) << trial;
      }
    }
    const std::size_t samples = std::accumulate(sizes.begin(), sizes.end(), std::size_t{0});
    EXPECT_EQ(SumByWorker(quotas, speeds.size()), DivideByShares(samples, speeds)) << trial;
  }
}

TEST(SpeedQuotas, LeaveSomeWorkersWithoutASmallClass) {
  const auto quotas = SpeedQuotas(Sizes{2, 30}, std::vector<double>{1, 1, 1, 1});
  EXPECT_EQ(std::accumulate(quotas[0].begin(), quotas[0].end(), std::size_t{0}), 2U);
  EXPECT_EQ(SumByWorker(quotas, 4), (Sizes{8, 8, 8, 8}));
}

TEST(CheckSpeeds, NamesTheFirstBadOne) {
  EXPECT_TRUE(CheckSpeeds(std::vector<double>{1, 0.5}, 2).ok());
  EXPECT_NE(CheckSpeeds(std::vector<double>{1, 0}, 9).message().find("speed of worker 1 is 0"),
            std::string::npos);
  EXPECT_NE(CheckSpeeds(std::vector<double>{-1, 0}, 9).message().find("speed of worker 0 is -1"),
            std::string::npos);
  EXPECT_FALSE(CheckSpeeds(std::vector<double>{1, std::nan("")}, 9).ok());
  EXPECT_FALSE(CheckSpeeds(std::vector<double>{1, INFINITY}, 9).ok());
  EXPECT_FALSE(CheckSpeeds({}, 9).ok());
  EXPECT_NE(CheckSpeeds(std::vector<double>{1, 1}, 1).message().find("2 workers for 1 sample;"),
            std::string::npos);
  EXPECT_NE(CheckSpeeds(std::vector<double>{1000, 1}, 30).message().find("worker 1 of speed 1"),
            std::string::npos);
}

TEST(SplitStratified, DealsEveryClassByQuotaAtRandom) {
  std::vector<std::int32_t> labels;
  for (int i = 0; i < 160; ++i) labels.push_back(i % 2);
  const SamplesByClass groups = GroupByClass(labels, 2);
  Rng rng(1), again(1), other(2);
  const Partition partition = SplitStratified(groups, std::vector<double>{4, 2, 1, 1}, rng);
  EXPECT_EQ(CountClasses(partition, labels, 2),
            (std::vector<std::vector<std::int64_t>>{{40, 40}, {20, 20}, {10, 10}, {10, 10}}));
  std::vector<bool> seen(labels.size(), false);
  for (const auto& shard : partition) {
    for (const std::uint32_t sample : shard) {
      EXPECT_FALSE(seen[sample]);
      seen[sample] = true;
    }
  }
  EXPECT_EQ(SplitStratified(groups, std::vector<double>{4, 2, 1, 1}, again), partition);
  EXPECT_NE(SplitStratified(groups, std::vector<double>{4, 2, 1, 1}, other), partition);
}

}  // namespace
}  // namespace tributary::inline policy
