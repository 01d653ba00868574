#include "tributary/plot/shards.h"

#include <gtest/gtest.h>

#include "tributary/plot/svg.h"

namespace tributary::inline plot {
namespace {

std::size_t Occurrences(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST(ShardsChart, HasAFieldForEachWorkerAndAPointForEachSample) {
  ShardsChart chart;
  chart.title = "a < b";
  chart.backdrop = {{{0, 0}, 0}, {{1, 1}, 1}};
  chart.shards = {
      {"two", {1, 1}, {{{0, 0}, 0}, {{1, 1}, 1}}}, {"one", {0, 1}, {{{0.5, 0.5}, 1}}}, {"none", {0, 0}, {}}};
  const std::string svg = DrawShards(chart);
  EXPECT_EQ(Occurrences(svg, "<circle"), 3U * 2U + 3U);
  EXPECT_EQ(Occurrences(svg, "<rect"), 1U + 3U + 3U + 2U);  // Ground, segments, fields, legend.
  EXPECT_NE(svg.find("<title>worker 1, class 1: 1</title>"), std::string::npos);
  EXPECT_NE(svg.find("worker-2"), std::string::npos);
  EXPECT_NE(svg.find("a &lt; b"), std::string::npos);
}

TEST(ShardsChart, PutsPlacesOnOneScaleWithHighOnesAtTheTop) {
  ShardsChart chart;
  chart.shards = {{"", {1}, {{{0, 0}, 0}}}, {"", {1}, {{{10, 10}, 0}}}};
  const std::string svg = DrawShards(chart);
  const double room = 220 * 0.4 / 10.8;
  const auto circle = [](double x, double y) {
    return "cx=\"" + FormatSvgNumber(x) + "\" cy=\"" + FormatSvgNumber(y) + "\"";
  };
  EXPECT_NE(svg.find(circle(20 + room, 102 + 220 - room)), std::string::npos) << svg;
  EXPECT_NE(svg.find(circle(264 + 220 - room, 102 + room)), std::string::npos) << svg;
}

TEST(ShardsChart, DrawsOneWorkerWithoutSamplesAndManyClasses) {
  ShardsChart chart;
  chart.shards = {{"", std::vector<std::int64_t>(100, 0), {}}};
  EXPECT_NE(DrawShards(chart).find("</svg>"), std::string::npos);
  chart.shards.assign(30, {"", {1}, {{{2, 2}, 0}}});
  EXPECT_EQ(Occurrences(DrawShards(chart), "<circle"), 30U);
}

}  // namespace
}  // namespace tributary::inline plot
