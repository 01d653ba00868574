#include "tributary/policy/aggregation/mean.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tributary/model/zoo.h"
#include "tributary/policy/aggregation/testing_store.h"

namespace tributary::inline policy {
namespace {

class MeanAggregatorTest : public testing::Test {
 protected:
  MeanAggregatorTest() : model_(BuildZooGraph({"resnet8", Shape{3, 8, 8}, 4}).value()) {}

  std::vector<float> Values(std::uint64_t seed, std::size_t count) const {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = 0.37F * static_cast<float>((i + 7 * seed) % 101) - 9;
    return values;
  }
  std::vector<float> ReportOf(const Aggregator& aggregate) const {
    std::vector<float> all(model_.parameters.size);
    EXPECT_TRUE(aggregate.Report(UpdatePart::kParameters, 0, all).ok());
    return all;
  }
  // An update in pieces of 1000 elements.
  Status StageAll(Aggregator& aggregate, std::uint64_t work, double weight) {
    const std::vector<float> parameters = Values(work, model_.parameters.size);
    for (std::size_t begin = 0; begin < parameters.size(); begin += 1000) {
      const auto values =
          std::span(parameters).subspan(begin, std::min<std::size_t>(1000, parameters.size() - begin));
      TRIBUTARY_RETURN_IF_ERROR(
          aggregate.Stage(WorkId{work}, {UpdatePart::kParameters, begin, values, weight}));
    }
    const std::vector<float> statistics = Values(work, model_.statistics.size);
    return aggregate.Stage(WorkId{work}, {UpdatePart::kStatistics, 0, statistics, weight});
  }

  const Model model_;
  MemoryStore store_, other_store_;
};

TEST_F(MeanAggregatorTest, WhatIsDiscardedLeavesNoTrace) {
  MeanAggregator plain(model_, store_), disturbed(model_, other_store_);
  for (MeanAggregator* aggregate : {&plain, &disturbed}) aggregate->Begin(100);
  ASSERT_TRUE(StageAll(plain, 1, 5).ok() && plain.Commit(WorkId{1}, 5).ok());
  ASSERT_TRUE(StageAll(disturbed, 2, 9).ok() && StageAll(disturbed, 1, 5).ok());
  ASSERT_TRUE(disturbed.Discard(WorkId{2}).ok() && disturbed.Commit(WorkId{1}, 5).ok());
  EXPECT_EQ(ReportOf(plain), ReportOf(disturbed));
  EXPECT_TRUE(store_.empty() && other_store_.empty());
}

TEST_F(MeanAggregatorTest, AnUpdateCountsWithTheWeightOfItsCommit) {
  MeanAggregator plain(model_, store_), changed(model_, other_store_);
  for (MeanAggregator* aggregate : {&plain, &changed}) aggregate->Begin(100);
  ASSERT_TRUE(StageAll(plain, 1, 5).ok() && plain.Commit(WorkId{1}, 5).ok());
  ASSERT_TRUE(StageAll(plain, 2, 1).ok() && plain.Commit(WorkId{2}, 1).ok());
  ASSERT_TRUE(StageAll(changed, 1, 5).ok() && changed.Commit(WorkId{1}, 5).ok());
  ASSERT_TRUE(StageAll(changed, 2, 40).ok() && changed.Commit(WorkId{2}, 1).ok());
  EXPECT_EQ(ReportOf(plain), ReportOf(changed));
}

TEST_F(MeanAggregatorTest, RefusesUpdatesThatWeighNothing) {
  MeanAggregator aggregate(model_, store_);
  aggregate.Begin(30);
  EXPECT_EQ(StageAll(aggregate, 0, 0).code(), StatusCode::kCorrupt);
  const std::vector<float> values(model_.parameters.size, 1), statistics(model_.statistics.size, 1);
  for (const double weight : {0.0, 10.0}) {
    const UpdatePiece pieces[] = {{UpdatePart::kParameters, 0, values, weight},
                                  {UpdatePart::kStatistics, 0, statistics, weight}};
    EXPECT_EQ(aggregate.Take(WorkId{1}, pieces).code(), weight > 0 ? StatusCode::kOk : StatusCode::kCorrupt);
    EXPECT_EQ(aggregate.CheckComplete().ok(), weight > 0);
  }
}

TEST(CheckUpdateWeight, RefusesWhatNoUpdateWeighs) {
  for (const double good : {0.5, 100.0}) EXPECT_TRUE(CheckUpdateWeight(good, 100).ok()) << good;
  for (const double bad : {0.0, -1.0, 100.5, std::nan(""), std::numeric_limits<double>::infinity()}) {
    EXPECT_EQ(CheckUpdateWeight(bad, 100).code(), StatusCode::kCorrupt) << bad;
  }
  EXPECT_EQ(CheckUpdateWeight(101, 100).message(),
            "the weight of an update must be between 0 and 100, the sum of all weights expected; found 101");
}

}  // namespace
}  // namespace tributary::inline policy
