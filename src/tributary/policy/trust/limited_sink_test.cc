#include "tributary/policy/trust/limited_sink.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tributary/model/zoo.h"
#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/aggregation/mean.h"
#include "tributary/policy/aggregation/testing_store.h"

namespace tributary::inline policy {
namespace {

class LimitedSinkTest : public testing::Test {
 protected:
  LimitedSinkTest() : model_(BuildZooGraph({"mlp", Shape{1, 4, 4}, 3}).value()) {}

  // Of this length.
  std::vector<float> Update(double norm, std::uint64_t seed = 1) const {
    std::vector<float> values(model_.parameters.size);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = 0.1F + static_cast<float>((i + seed) % 7);
    UpdateNorm found;
    found.Add(values);
    for (float& value : values) value = static_cast<float>(static_cast<double>(value) * norm / found.Value());
    return values;
  }
  static Status TakeWhole(UpdateSink& sink, WorkId work, std::span<const float> values, double weight) {
    const UpdatePiece piece{UpdatePart::kParameters, 0, values, weight};
    return sink.Take(work, {&piece, 1});
  }
  // Last pieces first, and some work of which nothing is left.
  static Status StageInPieces(UpdateSink& sink, WorkId work, std::span<const float> values, double weight) {
    for (std::size_t end = values.size(); end > 0;) {
      const std::size_t begin = end - std::min<std::size_t>(end, 777);
      TRIBUTARY_RETURN_IF_ERROR(
          sink.Stage(work, {UpdatePart::kParameters, begin, values.subspan(begin, end - begin), weight}));
      end = begin;
    }
    return sink.Commit(work, weight);
  }
  std::vector<float> ReportOf(const Aggregator& aggregate) const {
    std::vector<float> all(model_.parameters.size);
    const Status status = aggregate.Report(UpdatePart::kParameters, 0, all);
    EXPECT_TRUE(status.ok()) << status;
    return all;
  }
  static double NormOf(std::span<const float> values) {
    UpdateNorm norm;
    norm.Add(values);
    return norm.Value();
  }

  const Model model_;
  MemoryStore store_, other_store_;
};

TEST_F(LimitedSinkTest, UpdatesWithinTheLimitsPassWithTheSameBits) {
  MeanAggregator plain(model_, store_), limited(model_, other_store_);
  LimitedSink sink(other_store_);
  plain.Begin(10);
  limited.Begin(10);
  sink.Begin(limited, 6, 100);
  for (const std::uint64_t work : {1, 2}) {
    const std::vector<float> values = Update(90, work);
    ASSERT_TRUE(TakeWhole(plain, WorkId{work}, values, 5).ok());
    ASSERT_TRUE(StageInPieces(sink, WorkId{work}, values, 5).ok());
    EXPECT_FALSE(sink.taken().at(WorkId{work}).clipped);
    EXPECT_FALSE(sink.taken().at(WorkId{work}).capped);
    EXPECT_EQ(sink.taken().at(WorkId{work}).norm, NormOf(values));
  }
  EXPECT_EQ(ReportOf(limited), ReportOf(plain));
  EXPECT_TRUE(other_store_.empty());
}

// Four honest devices of 400 samples, and one that claims 100 million and sends zeros.
TEST_F(LimitedSinkTest, ADeviceThatClaimsAnyWeightCountsWithTheLargest) {
  MeanAggregator aggregate(model_, store_);
  LimitedSink sink(store_);
  aggregate.Begin(4 * 400 + 800);
  sink.Begin(aggregate, 800, 1e9);
  const std::vector<float> honest = Update(3), zeros(model_.parameters.size);
  for (std::uint64_t work = 0; work < 4; ++work)
    ASSERT_TRUE(StageInPieces(sink, WorkId{work}, honest, 400).ok());
  ASSERT_TRUE(StageInPieces(sink, WorkId{9}, zeros, 1e8).ok());
  EXPECT_TRUE(sink.taken().at(WorkId{9}).capped);
  const std::vector<float> mean = ReportOf(aggregate);
  for (std::size_t i = 0; i < mean.size(); ++i) ASSERT_NEAR(mean[i], honest[i] * 2 / 3, 1e-5);
}

// All 2^24: what an aggregator takes at most.
TEST_F(LimitedSinkTest, ALongUpdateIsShortenedAndKeepsItsWeightAndDirection) {
  MeanAggregator whole(model_, store_), pieces(model_, other_store_);
  const std::vector<float> honest = Update(2), huge(model_.parameters.size, 0x1p24F);
  for (const bool in_pieces : {false, true}) {
    MeanAggregator& aggregate = in_pieces ? pieces : whole;
    LimitedSink sink(in_pieces ? other_store_ : store_);
    aggregate.Begin(10);
    sink.Begin(aggregate, 5, 20);
    const auto give = in_pieces ? &StageInPieces : &TakeWhole;
    ASSERT_TRUE(give(sink, WorkId{1}, honest, 5).ok());
    ASSERT_TRUE(give(sink, WorkId{2}, huge, 5).ok());
    EXPECT_FALSE(sink.taken().at(WorkId{1}).clipped);
    EXPECT_TRUE(sink.taken().at(WorkId{2}).clipped);
  }
  const std::vector<float> mean = ReportOf(whole);
  EXPECT_EQ(mean, ReportOf(pieces));
  std::vector<float> added(mean.size());
  for (std::size_t i = 0; i < mean.size(); ++i) added[i] = 2 * mean[i] - honest[i];
  EXPECT_NEAR(NormOf(added), 20, 0.01);
  EXPECT_NEAR(added.front(), added.back(), 1e-5);
  EXPECT_TRUE(other_store_.empty());
}

TEST_F(LimitedSinkTest, StatisticsAreValuesAndStay) {
  const Model model(BuildZooGraph({"resnet8", Shape{3, 8, 8}, 4}).value());
  MeanAggregator aggregate(model, store_);
  LimitedSink sink(store_);
  aggregate.Begin(1);
  sink.Begin(aggregate, 1, 1);
  const std::vector<float> parameters(model.parameters.size, 1), statistics(model.statistics.size, 5);
  ASSERT_TRUE(sink.Stage(WorkId{1}, {UpdatePart::kStatistics, 0, statistics, 1}).ok());
  ASSERT_TRUE(sink.Stage(WorkId{1}, {UpdatePart::kParameters, 0, parameters, 1}).ok());
  ASSERT_TRUE(sink.Commit(WorkId{1}, 1).ok());
  std::vector<float> found(model.statistics.size);
  ASSERT_TRUE(aggregate.Report(UpdatePart::kStatistics, 0, found).ok());
  EXPECT_EQ(found, statistics);
}

TEST_F(LimitedSinkTest, ValuesThatAreRefusedAreNotMadeAllowedByShortening) {
  MeanAggregator aggregate(model_, store_);
  LimitedSink sink(store_);
  aggregate.Begin(10);
  sink.Begin(aggregate, 5, 20);
  EXPECT_FALSE(TakeWhole(sink, WorkId{1}, std::vector<float>(model_.parameters.size, 1e20F), 5).ok());
  EXPECT_FALSE(TakeWhole(sink, WorkId{1}, std::vector<float>(model_.parameters.size, std::nanf("")), 5).ok());
  EXPECT_TRUE(sink.taken().empty());
  EXPECT_FALSE(aggregate.CheckComplete().ok());
}

TEST_F(LimitedSinkTest, WhatIsDiscardedIsForgotten) {
  MeanAggregator aggregate(model_, store_);
  LimitedSink sink(store_);
  aggregate.Begin(10);
  sink.Begin(aggregate, 5, 20);
  const std::vector<float> honest = Update(2), huge(model_.parameters.size, 0x1p24F);
  // A device that sends one update in part, and after it comes back another.
  ASSERT_TRUE(sink.Stage(WorkId{1}, {UpdatePart::kParameters, 0, huge, 5}).ok());
  ASSERT_TRUE(sink.Discard(WorkId{1}).ok());
  ASSERT_TRUE(StageInPieces(sink, WorkId{1}, honest, 5).ok());
  EXPECT_EQ(sink.taken().at(WorkId{1}).norm, NormOf(honest));
  EXPECT_EQ(ReportOf(aggregate), honest);
}

// Of a rule that keeps all updates until the end.
TEST_F(LimitedSinkTest, RulesThatSeeAllUpdatesSeeTheLimitedOnes) {
  const DropoutOptions dropout;
  const auto aggregate =
      MakeStoredAggregator({model_, store_, dropout}, [](auto rows, auto weights, auto out) {
        for (std::size_t i = 0; i < out.size(); ++i) out[i] = rows[0][i];
        EXPECT_EQ(weights[0], 3);
      });
  LimitedSink sink(store_);
  aggregate->Begin(10);
  sink.Begin(*aggregate, 3, 20);
  ASSERT_TRUE(StageInPieces(sink, WorkId{1}, Update(50), 5).ok());
  EXPECT_NEAR(NormOf(ReportOf(*aggregate)), 20, 1e-3);
}

}  // namespace
}  // namespace tributary::inline policy
