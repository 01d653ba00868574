#include "tributary/plot/palette.h"

#include <array>
#include <cstdio>

namespace tributary::inline plot {
namespace {

struct Rgb {
  double red, green, blue;
};

// Neighbours in the list are neighbours in a stacked bar: dark and light alternate.
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

std::string CategoryColour(std::size_t category) {
  const Rgb colour = ColourOf(category);
  std::array<char, 8> text{};
  std::snprintf(text.data(), text.size(), "#%02x%02x%02x", static_cast<unsigned>(colour.red) & 0xff,
                static_cast<unsigned>(colour.green) & 0xff, static_cast<unsigned>(colour.blue) & 0xff);
  return text.data();
}

std::string LineColour(std::size_t line) {
  // The light ones, which alternate with the dark in a bar, come last.
  constexpr std::array<std::size_t, 10> kOrder = {0, 7, 2, 4, 5, 6, 8, 1, 3, 9};
  return CategoryColour(line / kOrder.size() * kOrder.size() + kOrder[line % kOrder.size()]);
}

std::string TextColourOn(std::size_t category) {
  const Rgb colour = ColourOf(category);
  // Perceived brightness; the eye is most sensitive to green.
  return 0.299 * colour.red + 0.587 * colour.green + 0.114 * colour.blue > 140 ? "#000000" : "#ffffff";
}

}  // namespace tributary::inline plot
