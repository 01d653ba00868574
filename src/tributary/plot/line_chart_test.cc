#include "tributary/plot/line_chart.h"

#include <gtest/gtest.h>

#include <regex>

#include "tributary/plot/svg.h"

namespace tributary::inline plot {
namespace {

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

std::string Group(const std::string& svg, const std::string& id) {
  const std::size_t start = svg.find("<g id=\"" + id + "\">");
  if (start == std::string::npos) return "";
  return svg.substr(start, svg.find("</g>", start) - start);
}

// All numbers that follow `name="` in a piece of the picture.
std::vector<double> Attributes(const std::string& text, const std::string& name) {
  const std::regex pattern(" " + name + "=\"([-0-9.]+)\"");
  std::vector<double> values;
  for (auto it = std::sregex_iterator(text.begin(), text.end(), pattern); it != std::sregex_iterator(); ++it)
    values.push_back(std::stod((*it)[1]));
  return values;
}

LineChart TwoLines() {
  LineChart chart{"Accuracy", "virtual time (s)", "accuracy", {}, {}, false};
  chart.series.push_back({"fast", {{0, 0.1}, {50, 0.6}, {100, 0.8}}, {{0.1, 0.1}, {0.5, 0.7}, {0.75, 0.85}}});
  chart.series.push_back({"slow <1>", {{0, 0.1}, {100, 0.4}}, {}});
  return chart;
}

TEST(LineChart, HasOneLinePerSeriesAndOneSurfacePerBand) {
  const std::string svg = DrawLineChart(TwoLines());
  EXPECT_EQ(Count(Group(svg, "lines"), "<path"), 2U);
  EXPECT_EQ(Count(Group(svg, "bands"), "<path"), 1U);
  EXPECT_EQ(Count(Group(svg, "lines"), "<circle"), 5U);
  EXPECT_NE(svg.find("<title>fast: 50, 0.6</title>"), std::string::npos);
  EXPECT_NE(Group(svg, "legend").find(">slow &lt;1&gt;</text>"), std::string::npos);
  EXPECT_NE(svg.find(">virtual time (s)</text>"), std::string::npos);
  EXPECT_EQ(Group(svg, "references"), "");
}

TEST(LineChart, PutsPointsInProportion) {
  const std::string svg = DrawLineChart(TwoLines());
  // The plot is 680 wide and 380 high; y goes from 0 to 1, because 0.85 is rounded up to a full step.
  const std::vector<double> x = Attributes(Group(svg, "lines"), "cx");
  const std::vector<double> y = Attributes(Group(svg, "lines"), "cy");
  EXPECT_NEAR(x[1] - x[0], 340, 0.02);
  EXPECT_NEAR(x[2] - x[0], 680, 0.02);
  EXPECT_NEAR(y[0] - y[1], 0.5 * 380, 0.02) << Group(svg, "axes");
}

TEST(LineChart, LegendAndLabelsStandOutsideOfTheAxes) {
  LineChart chart = TwoLines();
  chart.references = {{0.7, "published"}, {0.701, "target"}};
  for (int i = 0; i < 12; ++i)
    chart.series.push_back({"a rather long name of series " + std::to_string(i), {{0, 0.5}}, {}});
  const std::string svg = DrawLineChart(chart);
  for (const double y : Attributes(Group(svg, "legend"), "y")) EXPECT_GT(y, 62 + 380 + 40);
  const double right = Attributes(Group(svg, "references"), "x2").front();
  const std::vector<double> labels_x = Attributes(Group(svg, "references"), "x");
  for (const double x : labels_x) EXPECT_GT(x, right);
  // Two levels that nearly touch have labels that do not.
  const std::vector<double> labels_y = Attributes(Group(svg, "references"), "y");
  ASSERT_EQ(labels_y.size(), 2U);
  EXPECT_GE(labels_y[1] - labels_y[0], 12);
  // And all of the legend is on the picture.
  EXPECT_LT(Attributes(Group(svg, "legend"), "y").back(), Attributes(svg, "height").front());
}

TEST(LineChart, LeavesOutWhatALogarithmicAxisCannotShow) {
  LineChart chart = TwoLines();
  chart.log_x = true;
  chart.series[0].points = {{0, 0.1}, {1, 0.6}, {10, 0.7}, {100, 0.8}};
  chart.series[0].band.clear();
  chart.series[1].points = {{0, 0.1}};
  const std::string svg = DrawLineChart(chart);
  const std::vector<double> x = Attributes(Group(svg, "lines"), "cx");
  ASSERT_EQ(x.size(), 3U);
  EXPECT_NEAR(x[1] - x[0], x[2] - x[1], 0.02);
}

TEST(LineChart, DrawsEveryKindOfAlmostNothing) {
  EXPECT_NE(DrawLineChart({}).find("no points to show"), std::string::npos);
  LineChart chart;
  chart.series.push_back({"", {}, {}});
  EXPECT_NE(DrawLineChart(chart).find("no points to show"), std::string::npos);
  for (const bool log_x : {false, true}) {
    for (const double value : {1e-300, 0.5, 1e18, 1e18 - 200}) {
      chart.log_x = log_x;
      chart.series = {{"one", {{value, value}}, {}}, {"close", {{value, value * (1 - 1e-15)}}, {}}};
      EXPECT_EQ(Count(DrawLineChart(chart), "<circle"), 2U) << value;
    }
  }
  chart.series = {{"wide", {{-1e18, 1e18}, {1e18, -1e18}}, {}}};
  EXPECT_EQ(Count(DrawLineChart(chart), "<circle"), 1U);
  chart.log_x = false;
  EXPECT_EQ(Count(DrawLineChart(chart), "<circle"), 2U);
}

TEST(LineChart, KeepsMarksToSeriesOfFewPoints) {
  LineChart chart;
  chart.series.push_back({"many", {}, {}});
  for (int i = 0; i < 500; ++i) chart.series[0].points.push_back({i * 1.0, i * 0.5});
  const std::string svg = DrawLineChart(chart);
  EXPECT_EQ(Count(svg, "<circle"), 0U);
  EXPECT_EQ(Count(Group(svg, "lines"), "<path"), 1U);
}

TEST(Palette, LinesHaveThirtyColoursToo) {
  std::vector<std::string> colours;
  for (std::size_t i = 0; i < 30; ++i) colours.push_back(LineColour(i));
  std::sort(colours.begin(), colours.end());
  EXPECT_EQ(std::unique(colours.begin(), colours.end()), colours.end());
}

}  // namespace
}  // namespace tributary::inline plot
