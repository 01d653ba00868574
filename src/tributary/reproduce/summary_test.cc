#include "tributary/reproduce/summary.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tributary::inline reproduce {
namespace {

ArmResult Result(const std::string& arm, std::uint64_t seed, std::map<std::string, double> numbers) {
  return {arm, seed, "", Duration{0}, {std::move(numbers), {}}};
}

Reproduction Example() {
  Reproduction reproduction;
  reproduction.name = "test";
  reproduction.arms = {{"base", "", ""}, {"new", "", ""}, {"idle", "", ""}};
  reproduction.metrics = {{"time", "s", Metric::Better::kLower, {}}};
  const auto baselines = AgainstOne(reproduction.arms, "base");
  reproduction.comparisons = {{"ratio", "time", BaselineComparison::Kind::kRatio, baselines, {}},
                              {"speed-up", "time", BaselineComparison::Kind::kSpeedUp, baselines, {}},
                              {"saving", "time", BaselineComparison::Kind::kSaving, baselines, {}},
                              {"difference", "time", BaselineComparison::Kind::kDifference, baselines, {}}};
  return reproduction;
}

TEST(SpreadOf, MatchesTheDefinition) {
  // Mean 5; squares of the distances 9 + 1 + 1 + 1 + 0 + 0 + 4 + 16 = 32, over 7.
  const std::vector<double> values = {2, 4, 4, 4, 5, 5, 7, 9};
  const auto spread = SpreadOf(values);
  ASSERT_TRUE(spread.has_value());
  EXPECT_EQ(spread->runs, 8U);
  EXPECT_DOUBLE_EQ(spread->mean, 5);
  EXPECT_DOUBLE_EQ(spread->deviation.value(), std::sqrt(32.0 / 7));
  EXPECT_EQ(spread->low, 2);
  EXPECT_EQ(spread->high, 9);
}

TEST(SpreadOf, HasNoDeviationForOneAndNothingForNone) {
  EXPECT_FALSE(SpreadOf({}).has_value());
  const auto one = SpreadOf(std::vector<double>{3});
  EXPECT_EQ(one->mean, 3);
  EXPECT_FALSE(one->deviation.has_value());
  const auto equal = SpreadOf(std::vector<double>(7, 0.1));
  EXPECT_EQ(equal->mean, 0.1);
  EXPECT_EQ(equal->deviation, 0);
}

TEST(Summarise, ComparesWithinSeedsBeforeAveraging) {
  const std::vector<ArmResult> results = {Result("new", 2, {{"time", 50}}), Result("base", 1, {{"time", 10}}),
                                          Result("base", 2, {{"time", 100}}), Result("new", 1, {{"time", 4}}),
                                          Result("stranger", 9, {{"time", 1}})};
  const ReproductionSummary summary = Summarise(Example(), results);
  EXPECT_EQ(summary.seeds, (std::vector<std::uint64_t>{1, 2}));
  ASSERT_EQ(summary.arms.size(), 3U);
  const auto& figures = summary.arms[1].figures;
  EXPECT_DOUBLE_EQ(figures.at("time").mean, 27);
  // 0.4 and 0.5; the ratio of the means would be 54/110.
  EXPECT_DOUBLE_EQ(figures.at("ratio").mean, 0.45);
  EXPECT_NEAR(figures.at("ratio").deviation.value(), std::sqrt(0.005), 1e-15);
  EXPECT_DOUBLE_EQ(figures.at("speed-up").mean, 2.25);
  EXPECT_DOUBLE_EQ(figures.at("saving").mean, 0.55);
  EXPECT_DOUBLE_EQ(figures.at("difference").mean, -28);
  EXPECT_EQ(summary.arms[0].figures.size(), 1U);
  EXPECT_EQ(summary.arms[2].runs, 0U);
  EXPECT_TRUE(summary.arms[2].figures.empty());
}

TEST(Summarise, CountsOnlySeedsThatHaveTheFigure) {
  const std::vector<ArmResult> results = {Result("base", 1, {{"time", 10}}), Result("base", 2, {}),
                                          Result("base", 3, {{"time", 0}}),  Result("new", 1, {{"time", 5}}),
                                          Result("new", 2, {{"time", 5}}),   Result("new", 3, {{"time", 5}})};
  const ReproductionSummary summary = Summarise(Example(), results);
  EXPECT_EQ(summary.arms[0].runs, 3U);
  EXPECT_EQ(summary.arms[0].figures.at("time").runs, 2U);
  EXPECT_EQ(summary.arms[1].figures.at("ratio").runs, 1U);  // Not to a missing time, nor to none at all.
  EXPECT_EQ(summary.arms[1].figures.at("ratio").mean, 0.5);
  EXPECT_EQ(summary.arms[1].figures.at("speed-up").runs, 2U);
  EXPECT_EQ(summary.arms[1].figures.at("difference").runs, 2U);
}

}  // namespace
}  // namespace tributary::inline reproduce
