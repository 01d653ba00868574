#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace tributary::inline plot {

struct Point {
  double x = 0;
  double y = 0;
};

// The inks of all charts besides the colours of categories (see below).
inline constexpr const char *kDark = "#222222", *kGrey = "#bbbbbb", *kFaint = "#e6e6e6";

// How a line or the outline of a shape is drawn. Colours are SVG's: "#4477aa", "none".
struct Stroke {
  std::string colour = "none";
  double width = 1;
  double dash = 0;  // The length of dashes and of the gaps between them; 0 for a line without gaps.
};

enum class TextAnchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 12;  // In user units, which are pixels at natural size.
  TextAnchor anchor = TextAnchor::kStart;
  std::string colour = kDark;
  bool bold = false;
};

// Writes one self-contained SVG picture: a viewBox, a white ground, sans-serif text, no scripts, styles or
// links. The y axis points down. Text is escaped, so any string is safe to show; numbers are written with at
// most two decimals and never in a locale's way.
//
// Elements are drawn in the order of the calls, later ones over earlier ones. Every OpenGroup is matched by a
// CloseGroup before Finish, which ends the picture and hands it over.
class SvgWriter {
 public:
  SvgWriter(double width, double height);

  // Everything until CloseGroup has this name, which viewers show and tests find.
  void OpenGroup(std::string_view id);
  void CloseGroup();

  // `hint` is shown by browsers when the pointer rests on the shape; empty for none.
  void Rect(Point corner, double width, double height, std::string_view fill, const Stroke& stroke = {},
            std::string_view hint = {});
  void Line(Point from, Point to, const Stroke& stroke);
  void Circle(Point centre, double radius, std::string_view fill, const Stroke& stroke = {},
              std::string_view hint = {});
  // Straight from point to point; closed and filled unless `fill` is "none". Fewer than two points draw
  // nothing. What lies under the filling shines through an `opacity` below 1.
  void Path(const std::vector<Point>& points, std::string_view fill, const Stroke& stroke,
            double opacity = 1);
  // `at` is on the baseline of the text.
  void Text(Point at, std::string_view text, const TextStyle& style = {});

  std::string Finish() &&;

 private:
  std::string out_;
  int open_groups_ = 0;
};

// Text with the characters that mean something in XML replaced, and those that XML forbids (most control
// characters, bytes that are not UTF-8) shown as U+FFFD.
std::string EscapeXml(std::string_view text);

// At most two decimals, no trailing zeros: "3", "0.25", "-1.5".
std::string FormatSvgNumber(double value);

// Colours for categories. The first ten differ in lightness as well as in hue, so that they stay apart for
// people who do not see red or green, and in print. Further ones are the same ten made lighter and darker in
// turn; past thirty they repeat.
std::string CategoryColour(std::size_t category);

// The same colours for lines and points on white: those that stand out from it come first.
std::string LineColour(std::size_t line);

// Black or white, whichever is easier to read on that category's colour.
std::string TextColourOn(std::size_t category);

}  // namespace tributary::inline plot
