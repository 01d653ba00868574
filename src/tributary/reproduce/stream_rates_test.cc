#include "tributary/reproduce/stream_rates.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tributary::inline reproduce {
namespace {

RateSetting Setting(const std::string& name) {
  return *std::ranges::find(RateSettings(), name, &RateSetting::name);
}
double Mean(const std::vector<double>& rates) {
  return std::accumulate(rates.begin(), rates.end(), 0.0) / static_cast<double>(rates.size());
}

TEST(StreamRates, AreTheQuantilesOfTheirDistributions) {
  // By hand: 300 ± √3 · 112 · (15/16); 64 ± 24 · 1.8627, where the normal distribution function is 1/32.
  const auto s2 = QuantileRates(Setting("s2"), 16);
  EXPECT_EQ(s2.front(), 118.1);
  EXPECT_EQ(s2.back(), 481.9);
  const auto s1p = QuantileRates(Setting("s1p"), 16);
  EXPECT_EQ(s1p.front(), 19.3);
  EXPECT_EQ(s1p.back(), 108.7);
  for (const RateSetting& setting : RateSettings()) {
    const auto rates = QuantileRates(setting, 16);
    EXPECT_EQ(rates.size(), 16U);
    EXPECT_TRUE(std::ranges::is_sorted(rates));
    if (setting.name == "s1") continue;  // clipped
    EXPECT_NEAR(Mean(rates), setting.mean, 0.05);
  }
}

TEST(StreamRates, SlowOnesAreRaised) {
  const auto s1 = QuantileRates(Setting("s1"), 16);
  EXPECT_EQ(std::vector<double>(s1.begin(), s1.begin() + 4), (std::vector<double>{12, 12, 12, 14.6}));
  RateSetting lower = Setting("s1");
  lower.least = 4;
  EXPECT_EQ(QuantileRates(lower, 16).front(), 4);
}

TEST(StreamRates, DrawsHaveTheGivenMeanAndDeviation) {
  for (const RateSetting& setting : RateSettings()) {
    if (setting.name == "s1") continue;
    const auto rates = DrawnRates(setting, 20'000, 3);
    const double mean = Mean(rates);
    double squares = 0;
    for (const double rate : rates) squares += (rate - mean) * (rate - mean);
    EXPECT_NEAR(mean, setting.mean, 5 * setting.deviation / std::sqrt(20'000.0));
    EXPECT_NEAR(std::sqrt(squares / 20'000), setting.deviation, 0.03 * setting.deviation);
  }
  EXPECT_EQ(DrawnRates(Setting("s1"), 16, 2), DrawnRates(Setting("s1"), 16, 2));
  EXPECT_NE(DrawnRates(Setting("s1"), 16, 2), DrawnRates(Setting("s1"), 16, 3));
}

}  // namespace
}  // namespace tributary::inline reproduce
