#include "tributary/plot/timeline.h"

#include <gtest/gtest.h>

#include <regex>

namespace tributary::inline plot {
namespace {

TEST(Timeline, PlacesBlocksInProportionOnOneAxis) {
  Timeline timeline{"two plans", "ms", {}};
  timeline.rows.push_back({"a: 100 ms", {{"link", {{0, 50, "first", 0}, {50, 100, "second <2>", 1}}}}, 100});
  timeline.rows.push_back({"b: 50 ms", {{"link", {{0, 50, "only", 0}}}}, 50});
  const std::string svg = DrawTimeline(timeline);
  EXPECT_NE(svg.find("second &lt;2&gt;"), std::string::npos);
  // Widths of the coloured blocks: three halves of the widest row.
  const std::regex block(
      "<rect x=\"([0-9.]+)\" y=\"[0-9.]+\" width=\"([0-9.]+)\" height=\"26\" fill=\"#(?!f2f2f2)");
  std::vector<std::pair<double, double>> found;
  for (auto it = std::sregex_iterator(svg.begin(), svg.end(), block); it != std::sregex_iterator(); ++it) {
    found.emplace_back(std::stod((*it)[1]), std::stod((*it)[2]));
  }
  ASSERT_EQ(found.size(), 3U);
  EXPECT_NEAR(found[0].second, found[1].second, 0.02);
  EXPECT_NEAR(found[0].first + found[0].second, found[1].first, 0.02);
  EXPECT_NEAR(found[2].first, found[0].first, 0.02);
  EXPECT_NEAR(found[2].second, found[0].second, 0.02);
}

TEST(Timeline, DrawsNothingAtAllWithoutFailing) {
  EXPECT_NE(DrawTimeline({}).find("</svg>"), std::string::npos);
  EXPECT_NE(DrawTimeline({"t", "ms", {{"r", {{"link", {{0, 0, "", 0}}}}, 0}}}).find("</svg>"),
            std::string::npos);
}

}  // namespace
}  // namespace tributary::inline plot
