#include "tributary/device/local_data.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <utility>

namespace tributary::inline device {
namespace {

// Samples that are their own number.
const Dataset& Numbers() {
  static const Dataset dataset = [] {
    std::vector<float> values(40);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
    return Dataset::Make({"numbers", Shape{1, 1, 1}, 1, {}}, std::move(values),
                         std::vector<std::int32_t>(40, 0))
        .value();
  }();
  return dataset;
}

LocalData Some() { return {&Numbers(), {3, 5, 8, 13, 21, 34, 39}, {}}; }

TEST(LocalData, AnEpochReadsEverySampleOnceInAnotherOrderEachTime) {
  const LocalData data = Some();
  ASSERT_EQ(StepsPerEpoch(data, 3), 3U);
  std::vector<std::vector<float>> epochs;
  for (std::uint64_t epoch = 0; epoch < 4; ++epoch) {
    std::vector<float> read;
    for (std::uint64_t step = 0; step < 3; ++step) {
      Batch batch;
      ReadBatch(data, 3, {1, DeviceId{2}, epoch * 3 + step}, {}, batch);
      EXPECT_EQ(batch.inputs.size(), step < 2 ? 3U : 1U);
      read.insert(read.end(), batch.inputs.begin(), batch.inputs.end());
    }
    epochs.push_back(read);
    std::sort(read.begin(), read.end());
    EXPECT_EQ(read, (std::vector<float>{3, 5, 8, 13, 21, 34, 39}));
  }
  EXPECT_NE(epochs[0], epochs[1]);
}

TEST(LocalData, AnAssignmentContinuesWhereTheRoundBeforeEnded) {
  TrainAssignment assignment;
  assignment.batch = 3;
  assignment.steps = 2;
  assignment.round = RoundId{1};
  EXPECT_EQ(StepsOf(assignment, Some()).first, 0U);
  EXPECT_EQ(SamplesOf(assignment, Some()).all, 6);
  assignment.round = RoundId{2};
  EXPECT_EQ(StepsOf(assignment, Some()).first, 2U);
  EXPECT_EQ(SamplesOf(assignment, Some()).all, 4);  // the last of one epoch and the first of the next
  assignment.epochs = 2;
  EXPECT_EQ(StepsOf(assignment, Some()).count, 6U);
  EXPECT_EQ(SamplesOf(assignment, Some()).all, 14);
  EXPECT_EQ(SamplesOf(assignment, LocalData{&Numbers(), {}, {}}).all, 0);
}

TEST(LocalData, BothSidesOfACutKnowHowManySamplesAStepHas) {
  for (std::size_t count = 1; count <= 7; ++count) {
    LocalData data = Some();
    data.training.resize(count);
    for (std::size_t batch = 1; batch <= 9; ++batch) {
      TrainAssignment assignment{.steps = 3, .batch = batch};
      std::int64_t all = 0;
      for (std::uint64_t step = 0; step < 12; ++step) {
        assignment.round = RoundId{step / 3 + 1};
        const std::size_t read = BatchSamples(data, batch, {1, DeviceId{2}, step}).size();
        EXPECT_EQ(SamplesAt(assignment, static_cast<std::int64_t>(count), step % 3), read);
        all += static_cast<std::int64_t>(read);
        if (step % 3 < 2) continue;
        EXPECT_EQ(SamplesOf(assignment, data).all, std::exchange(all, 0));
      }
    }
  }
  EXPECT_EQ(SamplesAt({.batch = 5, .first = 100}, 7, 0), 5U);
  EXPECT_EQ(SamplesAt({.batch = 5}, 0, 0), 0U);
}

}  // namespace
}  // namespace tributary::inline device
