#include "tributary/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <vector>

namespace tributary::inline data {
namespace {

const Shape kShape{2, 3, 4};

std::vector<float> Sample() {
  std::vector<float> sample(24);
  std::iota(sample.begin(), sample.end(), 1.0F);
  return sample;
}

// What Augment should do, written the slow way: every pixel from its source.
std::vector<float> Expected(bool mirrored, int down, int right) {
  const std::vector<float> sample = Sample();
  std::vector<float> out(24, 0.0F);
  for (int c = 0; c < 2; ++c) {
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 4; ++x) {
        const int from_y = y + down, from_x = x + right;
        if (from_y < 0 || from_y >= 3 || from_x < 0 || from_x >= 4) continue;
        const int column = mirrored ? 3 - from_x : from_x;
        out[static_cast<std::size_t>((c * 3 + y) * 4 + x)] =
            sample[static_cast<std::size_t>((c * 3 + from_y) * 4 + column)];
      }
    }
  }
  return out;
}

TEST(Augment, DoesNothingUnlessAsked) {
  Rng rng(1), untouched(1);
  std::vector<float> sample = Sample();
  Augment({}, kShape, rng, sample);
  EXPECT_EQ(sample, Sample());
  EXPECT_EQ(rng.Next(), untouched.Next());
}

TEST(Augment, MirrorsHalfOfTheTime) {
  Rng rng(2);
  int mirrored = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<float> sample = Sample();
    Augment({.flip = true}, kShape, rng, sample);
    ASSERT_TRUE(sample == Sample() || sample == Expected(true, 0, 0));
    mirrored += sample != Sample();
  }
  EXPECT_NEAR(mirrored, 1000, 4 * 22.4);  // Four standard deviations.
}

TEST(Augment, ReachesEveryOffsetAndNothingElse) {
  // Padding past the height, so that whole images move out of sight.
  constexpr int kPadding = 4;
  std::map<std::vector<float>, int> seen;
  for (int mirrored = 0; mirrored < 2; ++mirrored) {
    for (int down = -kPadding; down <= kPadding; ++down) {
      for (int right = -kPadding; right <= kPadding; ++right) seen[Expected(mirrored == 1, down, right)] = 0;
    }
  }
  Rng rng(3);
  for (int i = 0; i < 20'000; ++i) {
    std::vector<float> sample = Sample();
    Augment({.flip = true, .padding = kPadding}, kShape, rng, sample);
    const auto found = seen.find(sample);
    ASSERT_NE(found, seen.end());
    ++found->second;
  }
  for (const auto& [sample, times] : seen) EXPECT_GT(times, 50);  // About 123 expected of the rarest.
}

Dataset Numbers(std::size_t count) {
  std::vector<float> values(count * 4);
  std::iota(values.begin(), values.end(), 1.0F);
  std::vector<std::int32_t> labels(count);
  std::iota(labels.begin(), labels.end(), 0);
  return *Dataset::Make({"numbers", {1, 2, 2}, static_cast<int>(count), {}}, std::move(values),
                        std::move(labels));
}

TEST(EpochOrder, IsAPermutationThatChangesWithEveryArgument) {
  const auto order = EpochOrder(100, 1, DeviceId{2}, 3);
  auto sorted = order;
  std::sort(sorted.begin(), sorted.end());
  std::vector<std::uint32_t> all(100);
  std::iota(all.begin(), all.end(), 0U);
  EXPECT_EQ(sorted, all);
  EXPECT_NE(order, all);
  EXPECT_EQ(EpochOrder(100, 1, DeviceId{2}, 3), order);
  EXPECT_NE(EpochOrder(100, 2, DeviceId{2}, 3), order);
  EXPECT_NE(EpochOrder(100, 1, DeviceId{3}, 3), order);
  EXPECT_NE(EpochOrder(100, 1, DeviceId{2}, 4), order);
}

TEST(GatherBatch, CopiesSamplesInTheOrderGiven) {
  const Dataset dataset = Numbers(5);
  Batch batch{std::vector<float>(100), {1, 2, 3, 4, 5}};
  GatherBatch(dataset, std::vector<std::uint32_t>{3, 0}, {}, {}, batch);
  EXPECT_EQ(batch.inputs, (std::vector<float>{13, 14, 15, 16, 1, 2, 3, 4}));
  EXPECT_EQ(batch.labels, (std::vector<std::int32_t>{3, 0}));
}

TEST(GatherBatch, AugmentationIsAFunctionOfItsKey) {
  const Dataset dataset = Numbers(50);
  const std::vector<std::uint32_t> indices = EpochOrder(50, 0, DeviceId{0}, 0);
  const AugmentOptions augment{.flip = true, .padding = 1};
  const auto inputs = [&](const BatchKey& key) {
    Batch batch;
    GatherBatch(dataset, indices, augment, key, batch);
    return batch.inputs;
  };
  const auto first = inputs({1, DeviceId{2}, 3});
  EXPECT_NE(inputs({1, DeviceId{2}, 4}), first);
  EXPECT_NE(inputs({1, DeviceId{3}, 3}), first);
  EXPECT_NE(inputs({2, DeviceId{2}, 3}), first);
  EXPECT_EQ(inputs({1, DeviceId{2}, 3}), first);
}

}  // namespace

}  // namespace tributary::inline data
