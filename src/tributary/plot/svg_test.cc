#include "tributary/plot/svg.h"

#include <gtest/gtest.h>

namespace tributary::inline plot {
namespace {

TEST(EscapeXml, ReplacesWhatMeansSomethingInXml) {
  EXPECT_EQ(EscapeXml("a<b> & \"c\" 'd'"), "a&lt;b&gt; &amp; &quot;c&quot; &#39;d&#39;");
  EXPECT_EQ(EscapeXml("plain ä → 🙂"), "plain ä → 🙂");
}

TEST(EscapeXml, ShowsWhatXmlForbidsAsReplacementCharacters) {
  EXPECT_EQ(EscapeXml(std::string_view("a\0b\x1b", 4)),
            "a\xef\xbf\xbd"
            "b\xef\xbf\xbd");
  EXPECT_EQ(EscapeXml("\xff"), "\xef\xbf\xbd");
  EXPECT_EQ(EscapeXml("\xc3"), "\xef\xbf\xbd");                                  // Cut short.
  EXPECT_EQ(EscapeXml("\xc0\xbc"), "\xef\xbf\xbd\xef\xbf\xbd");                  // '<' written too long.
  EXPECT_EQ(EscapeXml("\xed\xa0\x80"), "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");  // A surrogate.
  EXPECT_EQ(EscapeXml("\xef\xbf\xbf!"), "\xef\xbf\xbd!");
}

TEST(FormatSvgNumber, IsShortAndWithoutLocale) {
  EXPECT_EQ(FormatSvgNumber(3), "3");
  EXPECT_EQ(FormatSvgNumber(100), "100");
  EXPECT_EQ(FormatSvgNumber(0.254), "0.25");
  EXPECT_EQ(FormatSvgNumber(-1.5), "-1.5");
  EXPECT_EQ(FormatSvgNumber(-0.001), "0");
}

TEST(SvgWriter, WritesElementsInOrder) {
  SvgWriter svg(20, 10);
  svg.OpenGroup("g");
  svg.Rect({1, 2}, 3, 4, "#123456", {"#000000", 0.5}, "a & b");
  svg.Line({0, 0}, {1, 1.25}, {"#aaaaaa", 1});
  svg.Circle({5, 5}, 2, "none");
  svg.Path({{0, 0}, {1, 2}, {3, 0}}, "#ffffff", {});
  svg.Path({{0, 0}, {1, 2}}, "none", {"#000000", 2});
  svg.Path({{0, 0}}, "none", {});
  svg.Text({1, 9}, "<hi>", {8, TextAnchor::kEnd, "#222222", true});
  svg.CloseGroup();
  EXPECT_EQ(
      std::move(svg).Finish(),
      "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"20\" height=\"10\" viewBox=\"0 0 20 10\""
      " font-family=\"sans-serif\">\n"
      "<rect x=\"0\" y=\"0\" width=\"20\" height=\"10\" fill=\"#ffffff\"/>\n"
      "<g id=\"g\">\n"
      "<rect x=\"1\" y=\"2\" width=\"3\" height=\"4\" fill=\"#123456\" stroke=\"#000000\" "
      "stroke-width=\"0.5\">"
      "<title>a &amp; b</title></rect>\n"
      "<line x1=\"0\" y1=\"0\" x2=\"1\" y2=\"1.25\" fill=\"none\" stroke=\"#aaaaaa\" stroke-width=\"1\"/>\n"
      "<circle cx=\"5\" cy=\"5\" r=\"2\" fill=\"none\"/>\n"
      "<path d=\"M0 0L1 2L3 0Z\" fill=\"#ffffff\"/>\n"
      "<path d=\"M0 0L1 2\" fill=\"none\" stroke=\"#000000\" stroke-width=\"2\"/>\n"
      "<text x=\"1\" y=\"9\" font-size=\"8\" fill=\"#222222\" text-anchor=\"end\" font-weight=\"bold\">"
      "&lt;hi&gt;</text>\n"
      "</g>\n</svg>\n");
}

TEST(SvgWriter, WritesDashesOpacityAndHintsWhereAskedFor) {
  SvgWriter svg(20, 10);
  svg.Line({0, 0}, {1, 1}, {"#aaaaaa", 1, 4});
  svg.Path({{0, 0}, {1, 2}, {3, 0}}, "#ffffff", {}, 0.25);
  svg.Circle({5, 5}, 2, "none", {}, "a < b");
  const std::string text = std::move(svg).Finish();
  EXPECT_NE(text.find("stroke-width=\"1\" stroke-dasharray=\"4\"/>"), std::string::npos) << text;
  EXPECT_NE(text.find("fill=\"#ffffff\" fill-opacity=\"0.25\"/>"), std::string::npos) << text;
  EXPECT_NE(text.find("fill=\"none\"><title>a &lt; b</title></circle>"), std::string::npos) << text;
}

}  // namespace
}  // namespace tributary::inline plot
