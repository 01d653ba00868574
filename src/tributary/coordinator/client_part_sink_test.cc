#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "tributary/coordinator/server_part.h"
#include "tributary/fleet/report.h"
#include "tributary/fleet/update_journal.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/aggregation/mean.h"

namespace tributary::inline coordinator {
namespace {

// Everything is compared as bits.
std::vector<std::uint32_t> Bits(std::span<const float> values) {
  std::vector<std::uint32_t> bits(values.size());
  std::memcpy(bits.data(), values.data(), values.size_bytes());
  return bits;
}

std::vector<float> Numbers(std::size_t count, float first) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = first + 0.37F * static_cast<float>(i);
  return numbers;
}

// A network, of whose elements devices have the first `front` and the last `tail`.
class ClientPartSinkTest : public ::testing::TestWithParam<bool> {
 protected:
  ClientPartSinkTest()
      : model_(BuildZooGraph({"resnet8", Shape{3, 16, 16}, 10, Stem::kAuto}).value()),
        parameters_{150, GetParam() ? 40U : 0U, model_.parameters.size},
        statistics_{20, GetParam() ? 16U : 0U, model_.statistics.size},
        direct_(model_, direct_journal_),
        through_(model_, through_journal_),
        sink_(parameters_, statistics_) {
    direct_.Begin(100);
    through_.Begin(100);
    sink_.set_whole(through_);
  }

  // What the elements are in the whole, worked out without the sink.
  static void AddDirectly(MeanAggregator& aggregate, UpdatePart part, const ClientPartRanges& ranges,
                          std::span<const float> held, double weight) {
    const std::span<const float> front = held.first(ranges.front), tail = held.last(ranges.tail);
    const UpdatePiece pieces[] = {{part, 0, front, weight}, {part, ranges.whole - ranges.tail, tail, weight}};
    EXPECT_TRUE(aggregate.Take(WorkId{1}, pieces).ok());
  }

  // The rest of the network, so that there is a mean of everything.
  static void AddRest(MeanAggregator& aggregate, UpdatePart part, const ClientPartRanges& ranges) {
    const std::vector<float> rest = Numbers(ranges.whole - ranges.size(), -5);
    const UpdatePiece piece{part, ranges.front, rest, 7};
    EXPECT_TRUE(aggregate.Take(WorkId{9}, {&piece, 1}).ok());
  }

  void ExpectSame() {
    for (MeanAggregator* aggregate : {&direct_, &through_}) {
      AddRest(*aggregate, UpdatePart::kParameters, parameters_);
      AddRest(*aggregate, UpdatePart::kStatistics, statistics_);
      EXPECT_TRUE(aggregate->CheckComplete().ok());
    }
    for (const auto& [part, ranges] :
         {std::pair(UpdatePart::kParameters, parameters_), {UpdatePart::kStatistics, statistics_}}) {
      std::vector<float> a(ranges.whole), b(ranges.whole);
      ASSERT_TRUE(direct_.Report(part, 0, a).ok());
      ASSERT_TRUE(through_.Report(part, 0, b).ok());
      EXPECT_EQ(Bits(a), Bits(b));
    }
  }

  const Model model_;
  const ClientPartRanges parameters_, statistics_;
  UpdateJournal direct_journal_{"/tmp"}, through_journal_{"/tmp"};
  MeanAggregator direct_, through_;
  ClientPartSink sink_;
};

TEST_P(ClientPartSinkTest, WholeUpdatesGoToTheirPlaces) {
  for (const double weight : {3.0, 5.0}) {
    const std::vector<float> parameters = Numbers(parameters_.size(), static_cast<float>(weight));
    const std::vector<float> statistics = Numbers(statistics_.size(), -static_cast<float>(weight));
    ASSERT_TRUE(sink_.Take(WorkId{1}, Update{parameters, statistics, weight}.pieces()).ok());
    AddDirectly(direct_, UpdatePart::kParameters, parameters_, parameters, weight);
    AddDirectly(direct_, UpdatePart::kStatistics, statistics_, statistics, weight);
  }
  ExpectSame();
}

TEST_P(ClientPartSinkTest, PiecesGoToTheirPlaces) {
  const std::vector<float> parameters = Numbers(parameters_.size(), 1),
                           statistics = Numbers(statistics_.size(), 2);
  const auto in_pieces = [&](UpdatePart part, const ClientPartRanges& ranges, std::span<const float> held) {
    // Of seven elements, none across the gap.
    for (std::size_t begin = 0; begin < held.size();) {
      const std::size_t end = std::min(begin + 7, begin < ranges.front ? ranges.front : held.size());
      ASSERT_TRUE(sink_.Stage(WorkId{1}, {part, begin, held.subspan(begin, end - begin), 4}).ok());
      begin = end;
    }
    AddDirectly(direct_, part, ranges, held, 4);
  };
  in_pieces(UpdatePart::kParameters, parameters_, parameters);
  in_pieces(UpdatePart::kStatistics, statistics_, statistics);
  ASSERT_TRUE(sink_.Commit(WorkId{1}, 4).ok());
  ExpectSame();
}

TEST_P(ClientPartSinkTest, WhatIsTakenBackLeavesNoTrace) {
  const std::vector<float> parameters = Numbers(parameters_.size(), 1),
                           statistics = Numbers(statistics_.size(), 2);
  ASSERT_TRUE(sink_.Take(WorkId{1}, Update{parameters, statistics, 4}.pieces()).ok());
  AddDirectly(direct_, UpdatePart::kParameters, parameters_, parameters, 4);
  AddDirectly(direct_, UpdatePart::kStatistics, statistics_, statistics, 4);
  const std::vector<float> other = Numbers(parameters_.size(), 1e-3F);
  const auto held = [&](std::size_t begin, std::size_t end) {
    return UpdatePiece{UpdatePart::kParameters, begin, std::span(other).subspan(begin, end - begin), 9};
  };
  std::vector<UpdatePiece> pieces = {held(0, 60), held(60, parameters_.front)};
  if (GetParam()) pieces.push_back(held(parameters_.front, parameters_.size()));
  for (const UpdatePiece& piece : pieces) ASSERT_TRUE(sink_.Stage(WorkId{2}, piece).ok());
  ASSERT_TRUE(sink_.Discard(WorkId{2}).ok());
  ExpectSame();
}

TEST_P(ClientPartSinkTest, ARefusedUpdateLeavesNoTrace) {
  const std::vector<float> parameters = Numbers(parameters_.size(), 1),
                           statistics = Numbers(statistics_.size(), 2);
  ASSERT_TRUE(sink_.Take(WorkId{1}, Update{parameters, statistics, 4}.pieces()).ok());
  AddDirectly(direct_, UpdatePart::kParameters, parameters_, parameters, 4);
  AddDirectly(direct_, UpdatePart::kStatistics, statistics_, statistics, 4);

  // Wherever a value is not a number: at the front's ends, the tail's, and in the statistics when all else was taken.
  for (const std::size_t at : {std::size_t{0}, parameters_.front - 1, parameters_.size() - 1}) {
    std::vector<float> bad = Numbers(parameters_.size(), 8);
    bad[at] = std::numeric_limits<float>::quiet_NaN();
    EXPECT_FALSE(sink_.Take(WorkId{2}, Update{bad, statistics, 6}.pieces()).ok()) << at;
  }
  for (const std::size_t at : {std::size_t{0}, statistics_.size() - 1}) {
    std::vector<float> bad = Numbers(statistics_.size(), 8);
    bad[at] = std::numeric_limits<float>::infinity();
    EXPECT_FALSE(sink_.Take(WorkId{2}, Update{parameters, bad, 6}.pieces()).ok()) << at;
  }
  for (const double weight : {-1.0, 1e9, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_FALSE(sink_.Take(WorkId{2}, Update{parameters, statistics, weight}.pieces()).ok()) << weight;
  }
  ExpectSame();
}

TEST_P(ClientPartSinkTest, ElementsThatAreNotThereAreRefusedInWords) {
  const std::vector<float> parameters = Numbers(parameters_.size() + 1, 1),
                           statistics = Numbers(statistics_.size() + 1, 2);
  const std::string values = std::to_string(parameters_.size()), one_more = std::to_string(parameters.size());
  const Update long_values{parameters, std::span(statistics).first(statistics_.size()), 4};
  EXPECT_EQ(sink_.Take(WorkId{5}, long_values.pieces()).message(),
            "it has values up to " + one_more + " where there are " + values);
  const Update long_statistics{std::span(parameters).first(parameters_.size()), statistics, 4};
  EXPECT_NE(sink_.Take(WorkId{5}, long_statistics.pieces()).message(), "");
  EXPECT_FALSE(through_.CheckComplete().ok());
}

INSTANTIATE_TEST_SUITE_P(FrontAndTail, ClientPartSinkTest, ::testing::Bool(),
                         [](const auto& info) { return info.param ? "WithTail" : "FrontAlone"; });

TEST(ClientPartRanges, ElementsOfTheTailAreTheLastOfTheWhole) {
  const ClientPartRanges ranges{3, 2, 10};
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < ranges.size(); ++i) places.push_back(ranges.InWhole(i));
  EXPECT_EQ(places, (std::vector<std::size_t>{0, 1, 2, 8, 9}));
}

}  // namespace
}  // namespace tributary::inline coordinator
