#include "tributary/policy/aggregation/weighted_sum.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <thread>
#include <vector>

#include "tributary/base/distributions.h"
#include "tributary/base/rng.h"

namespace tributary::inline policy {
namespace {

std::vector<std::int64_t> Expanded(const SegmentWeights& weights, std::size_t offset, std::size_t count) {
  std::vector<std::int64_t> elements;
  weights.ForEach(offset, count, [&](SegmentWeights::Run run) {
    EXPECT_EQ(run.offset, offset + elements.size());
    EXPECT_GT(run.count, 0U);
    elements.insert(elements.end(), run.count, run.weight);
  });
  EXPECT_EQ(elements.size(), count);
  return elements;
}

TEST(SegmentWeights, AgreesWithOneWeightPerElement) {
  Rng rng(3);
  for (int round = 0; round < 50; ++round) {
    const std::size_t size = rng.Below(40);
    SegmentWeights a(size);
    SegmentWeights b(size);
    std::vector<std::int64_t> expected(size);
    for (int step = 0; step < 20; ++step) {
      const std::size_t offset = rng.Below(size + 1);
      const std::size_t count = rng.Below(size - offset + 1);
      const auto weight = static_cast<std::int64_t>(rng.Below(5));
      (step % 2 == 0 ? a : b).Add(offset, count, weight);
      for (std::size_t i = offset; i < offset + count; ++i) expected[i] += weight;
    }
    a.Merge(b);
    EXPECT_EQ(Expanded(a, 0, size), expected);
    if (size == 0) continue;
    const std::size_t offset = rng.Below(size);
    const std::size_t count = 1 + rng.Below(size - offset);
    const auto first = expected.begin() + static_cast<std::ptrdiff_t>(offset);
    const auto last = first + static_cast<std::ptrdiff_t>(count);
    EXPECT_EQ(Expanded(a, offset, count), std::vector<std::int64_t>(first, last));
    EXPECT_EQ(a.Largest(offset, count), *std::max_element(first, last));
    EXPECT_EQ(a.Smallest(offset, count), *std::min_element(first, last));
  }
}

TEST(SegmentWeights, ManyUpdatesInTheSameSegmentsCostNoMore) {
  SegmentWeights weights(1000);
  for (int update = 0; update < 100; ++update) {
    weights.Add(0, 400, 1);
    weights.Add(400, 600, 1);
  }
  int runs = 0;
  weights.ForEach(0, 1000, [&](SegmentWeights::Run run) {
    EXPECT_EQ(run.weight, 100);
    ++runs;
  });
  EXPECT_EQ(runs, 2);
}

TEST(SegmentWeightsDeathTest, ARangeOutsideIsABug) {
  SegmentWeights weights(10);
  EXPECT_DEATH(weights.Add(4, 7, 1), "count");
  EXPECT_DEATH(weights.Merge(SegmentWeights(9)), "size_");
}

__extension__ typedef __int128 Int128;

// weight · value · 2^shift rounded half to even, in integers throughout: an oracle that shares no arithmetic
// with the code. For weights up to 2^40 and results up to 2^62.
std::int64_t ExactlyRounded(std::int64_t weight, float value, int shift) {
  int exponent = 0;
  const float fraction = std::frexp(value, &exponent);
  const auto mantissa = static_cast<std::int64_t>(std::ldexp(fraction, 24));
  Int128 product = Int128{weight} * mantissa;  // · 2^(exponent − 24 + shift)
  const int places = exponent - 24 + shift;
  if (places >= 0) return static_cast<std::int64_t>(product * (Int128{1} << places));
  if (places < -100) return 0;  // Below 2^64 · 2^-100.
  const bool negative = product < 0;
  if (negative) product = -product;
  Int128 whole = product >> -places;
  const Int128 rest = product - (whole << -places);
  const Int128 half = Int128{1} << (-places - 1);
  if (rest > half || (rest == half && (whole & 1) != 0)) ++whole;
  return static_cast<std::int64_t>(negative ? -whole : whole);
}

struct Update {
  std::int64_t weight = 0;
  std::vector<float> values;
};

// Magnitudes from far below the unit to nearly the largest value.
std::vector<float> RandomValues(Rng& rng, std::size_t count) {
  std::vector<float> values(count);
  for (float& value : values) {
    value = static_cast<float>(std::ldexp(Uniform(rng, -1, 1), static_cast<int>(rng.Below(70)) - 46));
  }
  return values;
}

std::vector<Update> RandomUpdates(Rng& rng, std::size_t count, std::size_t size) {
  std::vector<Update> updates(count);
  for (Update& update : updates) {
    update = {static_cast<std::int64_t>(1 + rng.Below(1000)), RandomValues(rng, size)};
  }
  return updates;
}

double TotalWeight(const std::vector<Update>& updates) {
  std::int64_t total = 0;
  for (const Update& update : updates) total += update.weight;
  return static_cast<double>(total);
}

int ExponentOf(double expected_weight) {
  int k = 0;
  while (std::ldexp(1.0, k) < expected_weight) ++k;
  return k;
}

std::vector<float> MeanOf(const WeightedSum& sum) {
  std::vector<float> mean(sum.size());
  const Status status = sum.Mean(mean);
  EXPECT_TRUE(status.ok()) << status;
  return mean;
}

bool SameBits(const WeightedSum& a, const WeightedSum& b) {
  const std::vector<float> x = MeanOf(a);
  const std::vector<float> y = MeanOf(b);
  return std::equal(a.sums().begin(), a.sums().end(), b.sums().begin(), b.sums().end()) &&
         std::memcmp(x.data(), y.data(), x.size() * sizeof(float)) == 0;
}

TEST(WeightedSum, IsTheExactSumOfRoundedProducts) {
  Rng rng(1);
  for (int round = 0; round < 60; ++round) {
    const auto updates = RandomUpdates(rng, 1 + rng.Below(9), 1 + rng.Below(130));
    const std::size_t size = updates[0].values.size();
    const double expected_weight = TotalWeight(updates);
    WeightedSum sum(size, expected_weight);
    std::vector<std::int64_t> expected(size);
    for (const Update& update : updates) {
      sum.Accumulate(static_cast<double>(update.weight), update.values);
      for (std::size_t i = 0; i < size; ++i) {
        expected[i] += ExactlyRounded(update.weight, update.values[i], 36 - ExponentOf(expected_weight));
      }
    }
    ASSERT_TRUE(std::equal(expected.begin(), expected.end(), sum.sums().begin()));
    EXPECT_EQ(sum.Weight(0, size), expected_weight);
  }
}

// A weight and an expected weight of one make the product value · 2^36.
TEST(WeightedSum, RoundsLikeTheProcessorDoes) {
  Rng rng(2);
  std::vector<float> values = {0.0F,   -0.0F,  0x1p24F, -0x1p24F, std::nextafter(0x1p24F, 0.0F),
                               1e-45F, -1e-45F};
  for (int exponent = -40; exponent <= 24; ++exponent) {
    const float power = std::ldexp(1.0F, exponent);
    values.insert(values.end(), {power, -power, std::nextafter(power, 0.0F), -std::nextafter(power, 0.0F)});
  }
  for (int odd = 1; odd < 4096; odd += 2) {  // Halves of a unit: ties, alternately up and down.
    values.push_back(std::ldexp(static_cast<float>(odd), -37));
    values.push_back(std::ldexp(static_cast<float>(-odd), -37));
  }
  while (values.size() < 200'000) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(rng.Next()));
    if (std::abs(value) <= WeightedSum::kLargestValue) values.push_back(value);
  }
  WeightedSum sum(values.size(), 1);
  sum.Accumulate(1, values);
  for (std::size_t i = 0; i < values.size(); ++i) {
    ASSERT_EQ(sum.sums()[i], std::llrint(std::ldexp(static_cast<double>(values[i]), 36))) << values[i];
  }
}

TEST(WeightedSum, RoundsTheProductsOfAnyWeight) {
  Rng rng(12);
  for (int round = 0; round < 200; ++round) {
    const double expected_weight = std::ldexp(Uniform(rng, 0.5, 1), static_cast<int>(rng.Below(80)) - 20);
    const double weight = expected_weight * rng.Uniform();
    const auto values = RandomValues(rng, 200);
    WeightedSum sum(values.size(), expected_weight);
    sum.Accumulate(weight, values);
    int k = -30;
    while (std::ldexp(1.0, k) < expected_weight) ++k;
    for (std::size_t i = 0; i < values.size(); ++i) {
      ASSERT_EQ(sum.sums()[i], std::llrint(std::ldexp(weight, 36 - k) * static_cast<double>(values[i])));
    }
  }
}

TEST(WeightedSum, AnyOrderAnySegmentsAndAnyMergesGiveTheSameBits) {
  Rng rng(4);
  for (int round = 0; round < 100; ++round) {
    const std::size_t size = 1 + rng.Below(100);
    auto updates = RandomUpdates(rng, 2 + rng.Below(12), size);
    const double expected_weight = TotalWeight(updates) + static_cast<double>(rng.Below(500));
    WeightedSum reference(size, expected_weight);
    for (const Update& update : updates) {
      reference.Accumulate(static_cast<double>(update.weight), update.values);
    }

    Shuffle(rng, std::span(updates));
    std::vector<WeightedSum> parts(1 + rng.Below(5), WeightedSum(size, expected_weight));
    for (const Update& update : updates) {
      // Two cuts, in an order of their own, each piece to a sum of its own.
      std::vector<std::size_t> cuts = {0, rng.Below(size + 1), rng.Below(size + 1), size};
      std::sort(cuts.begin(), cuts.end());
      std::vector<std::size_t> pieces = {0, 1, 2};
      Shuffle(rng, std::span(pieces));
      for (const std::size_t piece : pieces) {
        parts[rng.Below(parts.size())].Accumulate(
            static_cast<double>(update.weight), cuts[piece],
            std::span(update.values).subspan(cuts[piece], cuts[piece + 1] - cuts[piece]));
      }
    }
    while (parts.size() > 1) {  // A random tree.
      Shuffle(rng, std::span(parts));
      const WeightedSum last = std::move(parts.back());
      parts.pop_back();
      parts.back().Merge(last);
    }
    ASSERT_TRUE(SameBits(reference, parts[0])) << "round " << round;
  }
}

TEST(WeightedSum, FractionalWeightsAreFreeOfOrderToo) {
  Rng rng(6);
  std::vector<double> weights(50);
  for (double& weight : weights) weight = rng.Uniform() * 1e-3;
  const double expected_weight = std::accumulate(weights.begin(), weights.end(), 0.0);
  const std::vector<float> values = RandomValues(rng, 20);
  WeightedSum forward(20, expected_weight);
  WeightedSum backward(20, expected_weight);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    forward.Accumulate(weights[i], values);
    backward.Accumulate(weights[weights.size() - 1 - i], values);
  }
  EXPECT_TRUE(SameBits(forward, backward));
  EXPECT_NEAR(forward.Weight(0, 20), expected_weight, 1e-15);
}

TEST(WeightedSum, MeanByBatchSizeIsWithinTheStatedError) {
  Rng rng(7);
  for (int round = 0; round < 30; ++round) {
    const auto updates = RandomUpdates(rng, 1 + rng.Below(60), 50);
    const double total = TotalWeight(updates);
    const double expected_weight = total * (1 + static_cast<double>(rng.Below(3)));  // Some never came.
    WeightedSum sum(50, expected_weight);
    for (const Update& update : updates) sum.Accumulate(static_cast<double>(update.weight), update.values);
    const std::vector<float> mean = MeanOf(sum);
    const double fixed_point =
        static_cast<double>(updates.size()) * std::ldexp(1.0, ExponentOf(expected_weight) - 37) / total;
    for (std::size_t i = 0; i < mean.size(); ++i) {
      long double expected = 0;
      for (const Update& update : updates) {
        expected += static_cast<long double>(update.weight) / static_cast<long double>(total) *
                    static_cast<long double>(update.values[i]);
      }
      const double rounding = std::abs(static_cast<double>(expected)) * 0x1p-24 * (1 + 1e-6);
      ASSERT_NEAR(static_cast<double>(mean[i]), static_cast<double>(expected), fixed_point + rounding);
    }
  }
}

TEST(WeightedSum, OneContributorGetsItsOwnValuesBack) {
  Rng rng(8);
  std::vector<float> values(1000);
  for (float& value : values) value = static_cast<float>(std::round(Uniform(rng, -1, 1) * 0x1p24) * 0x1p-30);
  WeightedSum sum(values.size(), 64);
  sum.Accumulate(64, values);
  EXPECT_EQ(MeanOf(sum), values);
}

TEST(WeightedSum, ALargestValueFromEverybodyFits) {
  const std::vector<float> values = {0x1p24F, -0x1p24F};
  WeightedSum sum(2, 1024);
  for (int i = 0; i < 1024; ++i) sum.Accumulate(1, values);
  EXPECT_EQ(MeanOf(sum), values);
}

TEST(WeightedSum, ADeviceCutOffCountsWhereItsSegmentsArrived) {
  WeightedSum sum(4, 4);
  sum.Accumulate(1, std::vector<float>{1, 1, 1, 1});
  sum.Accumulate(3, 2, std::vector<float>{5, 5});
  EXPECT_EQ(MeanOf(sum), (std::vector<float>{1, 1, 4, 4}));
  EXPECT_EQ(sum.Weight(2, 2), 4);
  EXPECT_EQ(sum.Weight(1, 2), 1);
  std::vector<float> tail(3);
  ASSERT_TRUE(sum.Mean(1, tail).ok());
  EXPECT_EQ(tail, (std::vector<float>{1, 4, 4}));
}

TEST(WeightedSum, NoMeanWhereNobodyContributed) {
  WeightedSum sum(5, 10);
  std::vector<float> out(5, 7);
  EXPECT_EQ(sum.Mean(out).code(), StatusCode::kUnavailable);
  sum.Accumulate(2, 0, std::vector<float>{1, 1, 1});
  sum.Accumulate(0, std::vector<float>{9, 9, 9, 9, 9});  // A device without samples.
  EXPECT_EQ(sum.Mean(out).message(),
            "there is no mean of element 3: no contribution of positive weight reached it");
  EXPECT_EQ(out, std::vector<float>(5, 7));
  EXPECT_TRUE(sum.Mean(0, std::span(out).first(3)).ok());
  EXPECT_TRUE(sum.Mean(5, {}).ok());
  EXPECT_EQ(out, (std::vector<float>{1, 1, 1, 7, 7}));
}

TEST(WeightedSum, ResetLeavesNothingBehind) {
  Rng rng(9);
  const auto updates = RandomUpdates(rng, 2, 70);
  WeightedSum used(70, 5000);
  used.Accumulate(3, 10, std::span(updates[0].values).first(20));
  used.Reset(2000);
  WeightedSum fresh(70, 2000);
  for (WeightedSum* sum : {&used, &fresh}) sum->Accumulate(17, updates[1].values);
  EXPECT_TRUE(SameBits(used, fresh));
}

TEST(WeightedSum, ChecksNameTheFirstBadValue) {
  std::vector<float> values(10'000, 1);
  EXPECT_TRUE(WeightedSum::Check(values).ok());
  EXPECT_TRUE(WeightedSum::Check({}).ok());
  values[9'999] = -0x1p24F;
  EXPECT_TRUE(WeightedSum::Check(values).ok());
  values[9'000] = std::numeric_limits<float>::quiet_NaN();
  values[5'000] = std::nextafter(-0x1p24F, -1e9F);
  const Status large = WeightedSum::Check(values);
  EXPECT_EQ(large.code(), StatusCode::kCorrupt);
  EXPECT_TRUE(
      large.message().starts_with("element 5000 of the update is -1.67772e+07; values must be finite"))
      << large;
  values[17] = -std::numeric_limits<float>::infinity();
  EXPECT_TRUE(WeightedSum::Check(values, 100).message().starts_with("element 117 of the update is -inf;"));
  values[16] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(WeightedSum::Check(values).message().starts_with("element 16 of the update is nan;"));
}

TEST(WeightedSumDeathTest, MisuseIsABug) {
  WeightedSum sum(4, 10);
  const std::vector<float> values(4);
  EXPECT_DEATH(sum.Accumulate(1, 1, values), "count");
  EXPECT_DEATH(sum.Accumulate(-1, values), "weight >= 0");
  EXPECT_DEATH(WeightedSum(4, 0), "expected_weight");
  EXPECT_DEATH(sum.Merge(WeightedSum(4, 11)), "expected_weight");
  EXPECT_DEATH(sum.Merge(WeightedSum(3, 10)), "size");
  sum.Accumulate(6, values);
  EXPECT_DEATH(sum.Accumulate(5, values), "room_");
}

TEST(ConcurrentWeightedSum, ThreadsGiveTheBitsOfOne) {
  constexpr std::size_t kSize = 200'000;  // Several blocks, and a part of one.
  constexpr std::size_t kThreads = 4;
  Rng rng(10);
  const auto updates = RandomUpdates(rng, 8, kSize);
  const double expected_weight = TotalWeight(updates);
  WeightedSum reference(kSize, expected_weight);
  for (const Update& update : updates) {
    reference.Accumulate(static_cast<double>(update.weight), update.values);
  }
  ConcurrentWeightedSum shared(kSize, expected_weight);
  {
    std::vector<std::jthread> threads;
    for (std::size_t thread = 0; thread < kThreads; ++thread) {
      threads.emplace_back([&, thread] {
        for (std::size_t i = thread; i < updates.size(); i += kThreads) {
          const auto weight = static_cast<double>(updates[i].weight);
          const std::span<const float> values = updates[i].values;
          const std::size_t cut = i * 24'571;  // Some updates in two segments, the last one first.
          shared.Accumulate(weight, cut, values.subspan(cut));
          shared.Accumulate(weight, values.first(cut));
        }
      });
    }
  }
  EXPECT_TRUE(SameBits(reference, shared.sum()));
  shared.sum().Reset(1);
  EXPECT_EQ(shared.sum().Weight(0, kSize), 0);
}

TEST(WeightedSum, ForgetsWhatIsRetractedToTheBit) {
  Rng rng(11);
  const std::vector<Update> updates = RandomUpdates(rng, 6, 1000);
  ConcurrentWeightedSum with(1000, TotalWeight(updates));
  ConcurrentWeightedSum without(1000, TotalWeight(updates));
  for (std::size_t i = 0; i < updates.size(); ++i) {
    const auto weight = static_cast<double>(updates[i].weight);
    // The third comes half and is taken back in other pieces than it came in, after others have come.
    with.Accumulate(weight, 0, std::span(updates[i].values).first(i == 2 ? 600 : 1000));
    if (i != 2) without.Accumulate(weight, updates[i].values);
  }
  const auto weight = static_cast<double>(updates[2].weight);
  with.Retract(weight, 400, std::span(updates[2].values).subspan(400, 200));
  with.Retract(weight, 0, std::span(updates[2].values).first(400));
  EXPECT_TRUE(std::ranges::equal(with.sum().sums(), without.sum().sums()));
  EXPECT_EQ(MeanOf(with.sum()), MeanOf(without.sum()));
  EXPECT_EQ(with.sum().Weight(0, 1000), without.sum().Weight(0, 1000));
}

TEST(WeightedSumDeathTest, CannotRetractWhatNeverCame) {
  WeightedSum sum(4, 10);
  const std::vector<float> values(4, 1.0F);
  sum.Accumulate(1, values);
  EXPECT_DEATH(sum.Retract(2, 0, values), "CHECK|Smallest");
}

}  // namespace

}  // namespace tributary::inline policy
