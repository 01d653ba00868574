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

// The colours of all charts, besides those of categories (see below).
inline constexpr const char *kDark = "#222222", *kGrey = "#bbbbbb", *kFaint = "#e6e6e6";

// How a line or a shape's outline is drawn. Colours are SVG's: "#4477aa", "none".
struct Stroke {
  std::string colour = "none";
  double width = 1;
  double dash = 0;  // length of dashes and gaps; 0: solid
};

enum class TextAnchor { kStart, kMiddle, kEnd };

struct TextStyle {
  double size = 12;  // in user units: pixels at natural size
  TextAnchor anchor = TextAnchor::kStart;
  std::string colour = kDark;
  bool bold = false;
};

// Writes one self-contained SVG picture: a viewBox, a white background, sans-serif text, no scripts, styles
// or links. The y axis points down. Any text is safe. Numbers are locale-independent, with at most two
// decimals.
//
// Elements are drawn in call order, later ones over earlier ones. Every OpenGroup needs a CloseGroup before
// Finish, which completes and returns the picture.
class SvgWriter {
 public:
  SvgWriter(double width, double height);

  // Elements until CloseGroup are in a group with this id, which viewers show and tests find.
  void OpenGroup(std::string_view id);
  void CloseGroup();

  // Browsers show a non-empty `hint` as the shape's tooltip.
  void Rect(Point corner, double width, double height, std::string_view fill, const Stroke& stroke = {},
            std::string_view hint = {});
  void Line(Point from, Point to, const Stroke& stroke);
  void Circle(Point centre, double radius, std::string_view fill, const Stroke& stroke = {},
              std::string_view hint = {});
  // Straight segments; closed and filled unless `fill` is "none". Fewer than two points draw nothing.
  // `opacity` is that of the filling.
  void Path(const std::vector<Point>& points, std::string_view fill, const Stroke& stroke,
            double opacity = 1);
  // `at` is on the text's baseline.
  void Text(Point at, std::string_view text, const TextStyle& style = {});

  std::string Finish() &&;

 private:
  std::string out_;
  int open_groups_ = 0;
};

// Escapes XML, with U+FFFD for what XML forbids (most control characters, invalid UTF-8).
std::string EscapeXml(std::string_view text);

// At most two decimals, no trailing zeros: "3", "0.25", "-1.5".
std::string FormatSvgNumber(double value);

// Colours for categories. The first ten differ in lightness and hue, so that they are distinct in print and
// for colour-blind people. The next twenty are lighter and darker variants; then colours repeat.
std::string CategoryColour(std::size_t category);

// The same colours for lines and points on white, those with the best contrast first.
std::string LineColour(std::size_t line);

// Black or white, whichever is more readable on the category's colour.
std::string TextColourOn(std::size_t category);

}  // namespace tributary::inline plot
