#include "tributary/plot/class_counts.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>

#include "tributary/plot/svg.h"

namespace tributary::inline plot {
namespace {

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

// Whether every tag that opens is closed in the right order and nothing but tags holds a '<'.
bool IsBalanced(const std::string& xml) {
  const std::regex tag("<(/?)([a-z]+)((?: [a-zA-Z0-9-]+=\"[^\"<]*\")*)(/?)>");
  std::vector<std::string> open;
  std::size_t tags = 0;
  for (auto it = std::sregex_iterator(xml.begin(), xml.end(), tag); it != std::sregex_iterator();
       ++it, ++tags) {
    const std::string name = (*it)[2];
    if ((*it)[1] == "/") {
      if (open.empty() || open.back() != name) return false;
      open.pop_back();
    } else if ((*it)[4] != "/") {
      open.push_back(name);
    }
  }
  return open.empty() && tags == Count(xml, "<");
}

std::vector<std::vector<std::int64_t>> Grid(std::size_t devices, std::size_t classes) {
  std::vector<std::vector<std::int64_t>> counts(devices, std::vector<std::int64_t>(classes));
  for (std::size_t d = 0; d < devices; ++d) {
    for (std::size_t c = 0; c < classes; ++c)
      counts[d][c] = static_cast<std::int64_t>((d * 7 + c * 3) % 11 + 1);
  }
  return counts;
}

TEST(ClassCountsChart, HasOneRectPerSegmentAndLegendEntry) {
  const std::string svg = DrawClassCounts({"Split", {{5, 0, 3}, {0, 0, 0}, {1, 1, 1}}, {}});
  EXPECT_TRUE(IsBalanced(svg));
  EXPECT_EQ(Count(svg, "<rect"), 1U + 5U + 3U);  // Ground, segments that are not empty, legend.
  EXPECT_EQ(Count(svg, "<title>"), 5U);
  EXPECT_NE(svg.find("<title>device 0, class 2: 3</title>"), std::string::npos);
  EXPECT_NE(svg.find("viewBox="), std::string::npos);
}

TEST(ClassCountsChart, WidthsAreInProportion) {
  const std::string svg = DrawClassCounts({"", {{100, 300}, {200, 0}}, {}});
  // The longest bar, 400 samples, is 640 wide; hairlines take 0.6 from each.
  EXPECT_NE(svg.find("x=\"64\" y=\"46\" width=\"159.4\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("x=\"224\" y=\"46\" width=\"479.4\""), std::string::npos) << svg;
  EXPECT_NE(svg.find("x=\"64\" y=\"72\" width=\"319.4\""), std::string::npos) << svg;
}

TEST(ClassCountsChart, EscapesTitleAndClassNames) {
  const std::string svg = DrawClassCounts({"a < b & c", {{1, 2}}, {"<script>", "\"cat\""}});
  EXPECT_TRUE(IsBalanced(svg));
  EXPECT_EQ(svg.find("<script>"), std::string::npos);
  EXPECT_NE(svg.find(">a &lt; b &amp; c</text>"), std::string::npos);
  EXPECT_NE(svg.find(">0  &lt;script&gt;</text>"), std::string::npos);
}

TEST(ClassCountsChart, DrawsFromOneDeviceToHundreds) {
  for (const std::size_t devices : {1U, 2U, 200U}) {
    for (const std::size_t classes : {1U, 10U}) {
      const std::string svg = DrawClassCounts({"Split", Grid(devices, classes), {}});
      EXPECT_TRUE(IsBalanced(svg));
      EXPECT_EQ(Count(svg, "<rect"), 1 + devices * classes + classes);
    }
  }
}

TEST(ClassCountsChart, DrawsAHundredClasses) {
  const std::string svg = DrawClassCounts({"Split", Grid(3, 100), {}});
  EXPECT_TRUE(IsBalanced(svg));
  EXPECT_EQ(Count(svg, "<rect"), 1U + 300U + 100U);
}

TEST(ClassCountsChart, DrawsEmptyDevices) { EXPECT_TRUE(IsBalanced(DrawClassCounts({"", {{0}}, {}}))); }

TEST(Palette, ThirtyColoursDiffer) {
  std::set<std::string> colours;
  for (std::size_t c = 0; c < 30; ++c) colours.insert(CategoryColour(c));
  EXPECT_EQ(colours.size(), 30U);
  EXPECT_EQ(TextColourOn(0), "#ffffff");
  EXPECT_EQ(TextColourOn(1), "#000000");
}

}  // namespace
}  // namespace tributary::inline plot
