#include "tributary/data/batches.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

namespace tributary {
namespace {

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
}  // namespace tributary
