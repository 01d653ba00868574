#include "tributary/reproduce/figure_lines.h"

#include <gtest/gtest.h>

namespace tributary {
namespace {

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
}  // namespace tributary
