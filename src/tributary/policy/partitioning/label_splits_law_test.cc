#include <gtest/gtest.h>

#include <cmath>

#include "tributary/policy/partitioning/label_splits.h"

namespace tributary::inline policy {
namespace {

struct Moments {
  double mean = 0;
  double variance = 0;
};

// The share of one class that device 0 gets, over independent draws.
template <typename Split>
Moments SharesOfFirstDevice(const Split& split, std::size_t samples, int draws) {
  SamplesByClass classes(1);
  for (std::uint32_t i = 0; i < samples; ++i) classes[0].push_back(i);
  double sum = 0, squares = 0;
  for (int draw = 0; draw < draws; ++draw) {
    Rng rng = Rng::ForStream(11, DeviceId{0}, "test", static_cast<std::uint64_t>(draw));
    const double share = static_cast<double>(split(classes, rng)[0].size()) / static_cast<double>(samples);
    sum += share;
    squares += share * share;
  }
  const double mean = sum / draws;
  return {mean, squares / draws - mean * mean};
}

// One coordinate of a symmetric Dirichlet over k devices is Beta(α, (k−1)α): mean 1/k, variance
// (1/k)(1−1/k)/(kα+1). With 4000 draws the mean's standard error is below 0.006 and the variance's below 4 %
// of itself for these α; the tolerances are about four of those.
TEST(SplitDirichlet, SharesHaveTheMeanAndVarianceOfTheDistribution) {
  constexpr std::size_t kDevices = 4;
  for (const double alpha : {0.1, 0.5, 2.0, 20.0}) {
    const Moments shares =
        SharesOfFirstDevice([&](const SamplesByClass& classes,
                                Rng& rng) { return SplitDirichlet(classes, kDevices, alpha, rng); },
                            1000, 4000);
    const double variance = 0.25 * 0.75 / (kDevices * alpha + 1);
    EXPECT_NEAR(shares.mean, 0.25, 4 * std::sqrt(variance / 4000)) << alpha;
    EXPECT_NEAR(shares.variance, variance, 0.12 * variance) << alpha;
  }
}

TEST(SplitExtendedDirichlet, SharesAmongHoldersHaveTheMeanAndVarianceOfTheDistribution) {
  // One class on every device: the same distribution, but for the one sample that each holder gets first (4
  // of 2000).
  const Moments shares = SharesOfFirstDevice(
      [&](const SamplesByClass& classes, Rng& rng) {
        return std::move(*SplitExtendedDirichlet(classes, 4, 1, 0.5, rng));
      },
      2000, 4000);
  const double variance = 0.25 * 0.75 / 3;
  EXPECT_NEAR(shares.mean, 0.25, 4 * std::sqrt(variance / 4000));
  EXPECT_NEAR(shares.variance, variance, 0.12 * variance);
}

TEST(SplitDirichlet, LargeAlphaIsNearlyEvenAndSmallAlphaIsNearlyAllOnOne) {
  SamplesByClass classes(3);
  for (std::uint32_t i = 0; i < 3000; ++i) classes[i % 3].push_back(i);
  Rng rng(2);
  for (const auto& device : SplitDirichlet(classes, 5, 1e7, rng)) {
    EXPECT_NEAR(static_cast<double>(device.size()), 600, 6);
  }
  std::size_t devices_with_samples = 0;
  for (const auto& device : SplitDirichlet(classes, 50, 1e-4, rng)) devices_with_samples += !device.empty();
  EXPECT_LE(devices_with_samples, 4U);
}

}  // namespace
}  // namespace tributary::inline policy
