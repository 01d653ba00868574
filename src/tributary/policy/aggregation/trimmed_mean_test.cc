#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/aggregation/aggregation.h"
#include "tributary/policy/aggregation/testing_store.h"
#include "tributary/policy/dropout/round_choice.h"

namespace tributary::inline policy {
namespace {

class TrimmedMeanTest : public testing::Test {
 protected:
  TrimmedMeanTest() : model_(BuildZooGraph({"resnet8", Shape{3, 8, 8}, 4}).value()) {}

  std::unique_ptr<Aggregator> Make(double trim, UpdateStore& store) const {
    const auto rule = std::ranges::find(AggregationRules(), "trimmed-mean", &AggregationRule::name);
    return (*rule)->make({model_, store, {}, 1, std::span(&trim, 1)}).value();
  }
  std::vector<float> Draw(std::uint64_t device, std::size_t size) const {
    Rng rng = Rng::ForStream(3, DeviceId{device}, "update");
    std::vector<float> values(size);
    for (float& value : values) value = static_cast<float>(Normal(rng));
    return values;
  }
  std::vector<float> ReportInBlocks(const Aggregator& aggregate, std::size_t block) const {
    std::vector<float> all(model_.parameters.size);
    for (std::size_t begin = 0; begin < all.size(); begin += block) {
      const auto some = std::span(all).subspan(begin, std::min(block, all.size() - begin));
      EXPECT_TRUE(aggregate.Report(UpdatePart::kParameters, begin, some).ok());
    }
    return all;
  }

  const Model model_;
};

// Against sorting every element on its own; whole updates or pieces, any block, and what was discarded.
TEST_F(TrimmedMeanTest, IsTheMeanOfTheMiddleOfEveryElement) {
  for (const auto& [devices, trim, cut] :
       {std::tuple(1, 0.4, 0), {2, 0.4, 0}, {5, 0.0, 0}, {5, 0.1, 1}, {10, 0.2, 2}, {9, 0.5, 4}}) {
    MemoryStore whole_store, pieces_store;
    const auto whole = Make(trim, whole_store), pieces = Make(trim, pieces_store);
    whole->Begin(1000);
    pieces->Begin(1000);
    std::vector<std::vector<float>> updates;
    const std::vector<float> statistics(model_.statistics.size, 1);
    for (int id = 0; id < devices; ++id) {
      updates.push_back(Draw(static_cast<std::uint64_t>(id), model_.parameters.size));
      const WorkId work{static_cast<std::uint64_t>(id)};
      const double weight = 1 + id;
      const UpdatePiece all[] = {{UpdatePart::kParameters, 0, updates.back(), weight},
                                 {UpdatePart::kStatistics, 0, statistics, weight}};
      ASSERT_TRUE(whole->Take(work, all).ok());
      for (std::size_t begin = 0; begin < updates.back().size(); begin += 999) {
        const auto values = std::span<const float>(updates.back())
                                .subspan(begin, std::min<std::size_t>(999, updates.back().size() - begin));
        ASSERT_TRUE(pieces->Stage(work, {UpdatePart::kParameters, begin, values, weight}).ok());
      }
      ASSERT_TRUE(pieces->Stage(work, all[1]).ok() && pieces->Commit(work, weight).ok());
    }
    const std::vector<float> huge(model_.parameters.size, 1e6F);
    ASSERT_TRUE(pieces->Stage(WorkId{77}, {UpdatePart::kParameters, 0, huge, 1}).ok());
    ASSERT_TRUE(pieces->Discard(WorkId{77}).ok());
    const std::vector<float> found = ReportInBlocks(*whole, 4096);
    EXPECT_EQ(found, ReportInBlocks(*pieces, 1000));
    for (std::size_t i = 0; i < found.size(); ++i) {
      std::vector<double> column;
      for (const auto& update : updates) column.push_back(static_cast<double>(update[i]));
      std::ranges::sort(column);
      double sum = 0;
      for (int k = cut; k < devices - cut; ++k) sum += column[static_cast<std::size_t>(k)];
      ASSERT_NEAR(found[i], sum / (devices - 2 * cut), 1e-6) << i;
    }
  }
}

TEST_F(TrimmedMeanTest, OneUpdateOfAnySizeMovesNothingOutOfTheRangeOfTheOthers) {
  MemoryStore store;
  const auto aggregate = Make(0.1, store);
  aggregate->Begin(1000);
  for (std::uint64_t id = 0; id < 5; ++id) {
    const std::vector<float> values(model_.parameters.size, id == 0 ? 1e7F : static_cast<float>(id));
    const UpdatePiece piece{UpdatePart::kParameters, 0, values, id == 0 ? 900.0 : 1.0};
    ASSERT_TRUE(aggregate->Take(WorkId{id}, {&piece, 1}).ok());
  }
  for (const float value : ReportInBlocks(*aggregate, 500)) ASSERT_EQ(value, 3);
}

TEST_F(TrimmedMeanTest, RefusesWhatIsNoUpdateAndReportsNothingOfNobody) {
  MemoryStore store;
  const auto aggregate = Make(0.1, store);
  aggregate->Begin(10);
  const std::vector<float> values(3, std::nanf(""));
  EXPECT_FALSE(aggregate->Stage(WorkId{1}, {UpdatePart::kParameters, 0, values, 1}).ok());
  EXPECT_FALSE(aggregate->Stage(WorkId{1}, {UpdatePart::kParameters, 0, {}, 0}).ok());
  EXPECT_FALSE(aggregate->Stage(WorkId{1}, {UpdatePart::kParameters, 0, {}, 11}).ok());
  EXPECT_FALSE(aggregate->CheckComplete().ok());
}

}  // namespace
}  // namespace tributary::inline policy
