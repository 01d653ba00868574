#include "tributary/plot/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "tributary/base/check.h"

namespace tributary::inline plot {
namespace {

constexpr std::string_view kReplacement = "\xef\xbf\xbd";
constexpr std::pair<char, std::string_view> kEscapes[] = {
    {'&', "&amp;"}, {'<', "&lt;"}, {'>', "&gt;"}, {'"', "&quot;"}, {'\'', "&#39;"}};

// The length of the valid UTF-8 character at the start of `text`, or 0. As XML does, refuses overlong forms,
// surrogates and values beyond the last code point.
std::size_t Utf8Length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const auto follows = [&](std::size_t i) { return (byte(i) & 0xc0U) == 0x80U; };
  const unsigned first = byte(0), second = byte(1);
  if (first < 0x80) return 1;
  if (first >= 0xc2 && first <= 0xdf) return follows(1) ? 2 : 0;
  if (first >= 0xe0 && first <= 0xef) {
    if ((first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f)) return 0;
    return follows(1) && follows(2) ? 3 : 0;
  }
  if (first >= 0xf0 && first <= 0xf4) {
    if ((first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f)) return 0;
    return follows(1) && follows(2) && follows(3) ? 4 : 0;
  }
  return 0;
}

std::string Attribute(std::string_view name, std::string_view value) {
  return fmt::format(" {}=\"{}\"", name, EscapeXml(value));
}

std::string Attribute(std::string_view name, double value) { return Attribute(name, FormatSvgNumber(value)); }

std::string Paint(std::string_view fill, const Stroke& stroke) {
  std::string text = Attribute("fill", fill);
  if (stroke.colour != "none") {
    text += Attribute("stroke", stroke.colour) + Attribute("stroke-width", stroke.width);
    if (stroke.dash > 0) text += Attribute("stroke-dasharray", stroke.dash);
  }
  return text;
}

struct Rgb {
  double red, green, blue;
};

// Neighbours in the list are adjacent in a stacked bar: dark and light alternate.
constexpr std::array<Rgb, 10> kColours = {{{51, 34, 136},      // indigo
                                           {136, 204, 238},    // sky
                                           {17, 119, 51},      // green
                                           {221, 204, 119},    // sand
                                           {170, 51, 119},     // purple
                                           {68, 170, 153},     // teal
                                           {136, 34, 34},      // brick
                                           {238, 136, 102},    // orange
                                           {102, 102, 102},    // grey
                                           {230, 190, 230}}};  // pink

Rgb ColourOf(std::size_t category) {
  const Rgb base = kColours[category % kColours.size()];
  const std::size_t shade = category / kColours.size() % 3;
  const double towards = shade == 1 ? 255 : 0, share = shade == 0 ? 0 : 0.4;
  const auto mix = [&](double part) { return part + share * (towards - part); };
  return {mix(base.red), mix(base.green), mix(base.blue)};
}

}  // namespace

std::string EscapeXml(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = Utf8Length(text);
    const char c = text.front();
    const bool control = static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r';
    const bool forbidden = text.substr(0, 3) == "\xef\xbf\xbe" || text.substr(0, 3) == "\xef\xbf\xbf";
    const auto* const escape =
        std::ranges::find(kEscapes, c, [](const auto& letter) { return letter.first; });
    out += length == 0 || control || forbidden ? kReplacement
           : escape != std::end(kEscapes)      ? escape->second
                                               : text.substr(0, length);
    text.remove_prefix(forbidden ? 3 : std::max<std::size_t>(1, length));
  }
  return out;
}

std::string FormatSvgNumber(double value) {
  TRIBUTARY_CHECK(std::isfinite(value) && std::abs(value) < 1e9);
  std::string text = fmt::format("{:.2f}", value);
  while (text.back() == '0') text.pop_back();
  if (text.back() == '.') text.pop_back();
  return text == "-0" ? "0" : text;
}

SvgWriter::SvgWriter(double width, double height) {
  out_ = "<svg xmlns=\"http://www.w3.org/2000/svg\"" + Attribute("width", width) +
         Attribute("height", height) +
         Attribute("viewBox", "0 0 " + FormatSvgNumber(width) + " " + FormatSvgNumber(height)) +
         Attribute("font-family", "sans-serif") + ">\n";
  Rect({0, 0}, width, height, "#ffffff");
}

void SvgWriter::OpenGroup(std::string_view id) {
  out_ += "<g" + Attribute("id", id) + ">\n";
  ++open_groups_;
}

void SvgWriter::CloseGroup() {
  TRIBUTARY_CHECK(open_groups_ > 0);
  --open_groups_;
  out_ += "</g>\n";
}

void SvgWriter::Rect(Point corner, double width, double height, std::string_view fill, const Stroke& stroke,
                     std::string_view hint) {
  out_ += "<rect" + Attribute("x", corner.x) + Attribute("y", corner.y) + Attribute("width", width) +
          Attribute("height", height) + Paint(fill, stroke);
  out_ += hint.empty() ? "/>\n" : "><title>" + EscapeXml(hint) + "</title></rect>\n";
}

void SvgWriter::Line(Point from, Point to, const Stroke& stroke) {
  out_ += "<line" + Attribute("x1", from.x) + Attribute("y1", from.y) + Attribute("x2", to.x) +
          Attribute("y2", to.y) + Paint("none", stroke) + "/>\n";
}

void SvgWriter::Circle(Point centre, double radius, std::string_view fill, const Stroke& stroke,
                       std::string_view hint) {
  out_ += "<circle" + Attribute("cx", centre.x) + Attribute("cy", centre.y) + Attribute("r", radius) +
          Paint(fill, stroke);
  out_ += hint.empty() ? "/>\n" : "><title>" + EscapeXml(hint) + "</title></circle>\n";
}

void SvgWriter::Path(const std::vector<Point>& points, std::string_view fill, const Stroke& stroke,
                     double opacity) {
  if (points.size() < 2) return;
  std::string steps;
  for (const auto& [x, y] : points)
    steps += (steps.empty() ? "M" : "L") + FormatSvgNumber(x) + " " + FormatSvgNumber(y);
  if (fill != "none") steps += "Z";
  out_ += "<path" + Attribute("d", steps) + Paint(fill, stroke);
  if (opacity < 1) out_ += Attribute("fill-opacity", opacity);
  out_ += "/>\n";
}

void SvgWriter::Text(Point at, std::string_view text, const TextStyle& style) {
  out_ += "<text" + Attribute("x", at.x) + Attribute("y", at.y) + Attribute("font-size", style.size) +
          Attribute("fill", style.colour);
  if (style.anchor != TextAnchor::kStart)
    out_ += Attribute("text-anchor", style.anchor == TextAnchor::kMiddle ? "middle" : "end");
  if (style.bold) out_ += Attribute("font-weight", "bold");
  out_ += ">" + EscapeXml(text) + "</text>\n";
}

std::string SvgWriter::Finish() && {
  TRIBUTARY_CHECK(open_groups_ == 0);
  out_ += "</svg>\n";
  return std::move(out_);
}

std::string CategoryColour(std::size_t category) {
  const auto [red, green, blue] = ColourOf(category);
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(red), static_cast<int>(green),
                     static_cast<int>(blue));
}

std::string LineColour(std::size_t line) {
  // Light colours, which alternate with dark ones in a bar, come last.
  constexpr std::array<std::size_t, 10> kOrder = {0, 7, 2, 4, 5, 6, 8, 1, 3, 9};
  return CategoryColour(line / kOrder.size() * kOrder.size() + kOrder[line % kOrder.size()]);
}

std::string TextColourOn(std::size_t category) {
  const Rgb colour = ColourOf(category);
  // Perceived brightness: the eye is most sensitive to green.
  return 0.299 * colour.red + 0.587 * colour.green + 0.114 * colour.blue > 140 ? "#000000" : "#ffffff";
}

}  // namespace tributary::inline plot
