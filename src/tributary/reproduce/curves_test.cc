#include <gtest/gtest.h>

#include "tributary/reproduce/report.h"

namespace tributary::inline reproduce {
namespace {

Reproduction Example() {
  Reproduction reproduction;
  reproduction.arms = {{"a", "", ""}, {"b", "", ""}};
  return reproduction;
}

ArmResult Result(const std::string& arm, std::uint64_t seed, std::vector<Point> curve) {
  return {arm, seed, "", Duration{0}, {{}, std::move(curve)}};
}

TEST(MeanCurves, ReadsEverySeedOnACommonGrid) {
  const std::vector<ArmResult> results = {Result("a", 1, {{0, 0}, {10, 10}, {20, 10}}),
                                          Result("a", 2, {{0, 2}, {5, 2}, {16, 13}})};
  const auto series = MeanCurves(Example(), results);
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].name, "a (2 seeds)");
  // Up to 16, where the second ends.
  const std::vector<double> x = {0, 5, 10, 16}, mean = {1, 3.5, 8.5, 11.5}, low = {0, 2, 7, 10},
                            high = {2, 5, 10, 13};
  ASSERT_EQ(series[0].points.size(), x.size());
  ASSERT_EQ(series[0].band.size(), x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    EXPECT_EQ(series[0].points[i].x, x[i]);
    EXPECT_DOUBLE_EQ(series[0].points[i].y, mean[i]);
    EXPECT_DOUBLE_EQ(series[0].band[i].low, low[i]);
    EXPECT_DOUBLE_EQ(series[0].band[i].high, high[i]);
  }
}

TEST(MeanCurves, KeepsTheCurveOfASingleSeedAsItIs) {
  const std::vector<ArmResult> results = {Result("b", 1, {{0, 1}, {3, 5}}), Result("b", 2, {})};
  const auto series = MeanCurves(Example(), results);
  ASSERT_EQ(series.size(), 1U);
  EXPECT_EQ(series[0].name, "b (1 seed)");
  EXPECT_TRUE(series[0].band.empty());
  ASSERT_EQ(series[0].points.size(), 2U);
  EXPECT_EQ(series[0].points[1].y, 5);
}

TEST(MeanCurves, TakesTheLatestOfSeveralPointsAtOneX) {
  const std::vector<ArmResult> results = {Result("a", 1, {{0, 0}, {1, 1}, {1, 3}, {2, 5}}),
                                          Result("a", 2, {{1, 7}})};
  const auto series = MeanCurves(Example(), results);
  ASSERT_EQ(series.size(), 1U);
  ASSERT_EQ(series[0].points.size(), 1U);
  EXPECT_EQ(series[0].points[0].y, 5);
}

TEST(MeanCurves, ThinsOutWhatNoScreenShows) {
  std::vector<Point> dense;
  for (int i = 0; i <= 10'000; ++i) dense.push_back({i * 0.1, i * 0.2});
  const auto series = MeanCurves(Example(), std::vector<ArmResult>{Result("a", 1, dense)});
  ASSERT_EQ(series.size(), 1U);
  ASSERT_EQ(series[0].points.size(), 400U);
  EXPECT_EQ(series[0].points.back().x, dense.back().x);
  for (const Point& point : series[0].points) EXPECT_NEAR(point.y, 2 * point.x, 1e-9);
}

TEST(MeanCurves, HasNoSeriesWhereSeedsHaveNothingInCommon) {
  const std::vector<ArmResult> results = {Result("a", 1, {{0, 1}, {3, 5}}), Result("a", 2, {{4, 1}})};
  EXPECT_TRUE(MeanCurves(Example(), results).empty());
  EXPECT_TRUE(MeanCurves(Example(), {}).empty());
}

ArmSummary ArmAt(const std::string& name, double time, SeedSpread accuracy) {
  return {name, accuracy.runs, {{"time", {accuracy.runs, time, {}, time, time}}, {"accuracy", accuracy}}};
}

TEST(FigureLines, JoinArmsInTheOrderOfTheLine) {
  const ReproductionSummary summary{{1, 2},
                                    {ArmAt("a", 5, {2, 0.7, 0.1, 0.6, 0.8}),
                                     ArmAt("b", 3, {2, 0.6, 0.1, 0.5, 0.7}),
                                     {"unfinished", 0, {}}}};
  FigureChart chart;
  chart.x = "time";
  chart.y = "accuracy";
  chart.lines = {{"both", {"b", "unfinished", "a"}}, {"none", {"unfinished"}}};
  const auto lines = FigureLines(chart, summary);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].name, "both");
  ASSERT_EQ(lines[0].points.size(), 2U);
  EXPECT_EQ(lines[0].points[0].x, 3);
  EXPECT_EQ(lines[0].points[1].y, 0.7);
  ASSERT_EQ(lines[0].band.size(), 2U);
  EXPECT_EQ(lines[0].band[1].low, 0.6);
  EXPECT_EQ(lines[0].band[1].high, 0.8);
}

TEST(FigureLines, HaveNoBandOfASingleSeed) {
  const ReproductionSummary summary{{1}, {ArmAt("a", 5, {1, 0.7, {}, 0.7, 0.7})}};
  FigureChart chart;
  chart.x = "time";
  chart.y = "accuracy";
  chart.lines = {{"one", {"a"}}};
  const auto lines = FigureLines(chart, summary);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0].band.empty());
}

}  // namespace
}  // namespace tributary::inline reproduce
