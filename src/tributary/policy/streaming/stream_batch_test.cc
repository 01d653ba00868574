#include "tributary/policy/streaming/stream_batch.h"

#include <gtest/gtest.h>

#include "tributary/base/names.h"

namespace tributary::inline policy {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

TEST(NextBatch, FollowsTheStreamWithinItsBounds) {
  const StreamBatchOptions options{.rule = BatchRule::kStreamRate};
  const auto samples = [&](double rate) { return NextBatch(options, 64, {rate}).samples; };
  EXPECT_EQ(samples(100), 100U);
  EXPECT_EQ(samples(99.6), 100U);
  EXPECT_EQ(samples(3), 8U);
  EXPECT_EQ(samples(5000), 1024U);
  EXPECT_EQ(NextBatch(options, 64, {100}).wait, seconds(1));
  EXPECT_EQ(NextBatch(options, 64, {4}).wait, seconds(2));  // Eight samples at four a second.
}

TEST(NextBatch, AShorterWindowIsASmallerBatch) {
  const StreamBatchOptions options{.rule = BatchRule::kStreamRate, .window = milliseconds(450)};
  EXPECT_EQ(NextBatch(options, 64, {300}).samples, 135U);
  EXPECT_EQ(NextBatch(options, 64, {300}).wait, milliseconds(450));
}

TEST(NextBatch, WhereNothingIsKnownItIsTheFixedOne) {
  for (const BatchRule rule : kBatchRules) {
    const StreamBatch batch = NextBatch({.rule = rule}, 64, {0});
    EXPECT_EQ(batch.samples, 64U);
    EXPECT_EQ(batch.wait, Duration::max());
  }
  EXPECT_EQ(NextBatch({}, 64, {12}).samples, 64U);
  EXPECT_EQ(NextBatch({}, 64, {16}).wait, seconds(4));
}

TEST(NextBatch, SharesAreThoseOfTheRates) {
  const StreamBatchOptions options{.rule = BatchRule::kStreamRate};
  const std::vector<double> rates = {16, 40, 64, 120, 300};
  double all = 0, sum = 0;
  for (const double rate : rates) all += rate;
  for (const double rate : rates) sum += static_cast<double>(NextBatch(options, 64, {rate}).samples);
  for (const double rate : rates) {
    EXPECT_DOUBLE_EQ(static_cast<double>(NextBatch(options, 64, {rate}).samples) / sum, rate / all);
  }
}

TEST(RateFactor, IsOneAtTheBaseBatchUnderEveryRule) {
  for (const RateScaling rule : kRateScalings) EXPECT_EQ(RateFactor({.rule = rule}, 1024, 1024), 1);
}

TEST(RateFactor, GrowsAsItsRuleSays) {
  EXPECT_EQ(RateFactor({}, 4096, 1024), 1);
  EXPECT_EQ(RateFactor({.rule = RateScaling::kLinear}, 4096, 1024), 4);
  EXPECT_EQ(RateFactor({.rule = RateScaling::kSquareRoot}, 4096, 1024), 2);
  EXPECT_EQ(RateFactor({.rule = RateScaling::kLinear}, 512, 1024), 0.5);
  EXPECT_EQ(RateFactor({.rule = RateScaling::kLinear, .most = 1.5}, 4096, 1024), 1.5);
  EXPECT_EQ(RateFactor({.rule = RateScaling::kLinear, .most = 1.5}, 512, 1024), 0.5);
}

TEST(Rules, ReadBackByName) {
  for (const BatchRule rule : kBatchRules)
    EXPECT_EQ(*ParseName("batch rule", kBatchRules, NameOf(rule)), rule);
  for (const RateScaling rule : kRateScalings)
    EXPECT_EQ(*ParseName("scaling", kRateScalings, NameOf(rule)), rule);
  EXPECT_NE(ParseName("scaling", kRateScalings, "sqrt").status().message().find("square-root"),
            std::string::npos);
  EXPECT_NE(ParseName("batch rule", kBatchRules, "stream").status().message().find("stream-rate"),
            std::string::npos);
}

}  // namespace
}  // namespace tributary::inline policy
