#include "tributary/policy/aggregation/segment_weights.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tributary/base/rng.h"

namespace tributary {
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

}  // namespace
}  // namespace tributary
