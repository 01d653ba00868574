#include "tributary/data/glyph_shapes.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"

namespace tributary {
namespace {

// Square roots are exact to the bit everywhere; sines are not, so directions are written out as numbers.

double Disc(double x, double y, double radius) { return std::sqrt(x * x + y * y) - radius; }

double Box(double x, double y, double half_width, double half_height) {
  const double dx = std::abs(x) - half_width, dy = std::abs(y) - half_height;
  if (dx <= 0 || dy <= 0) return std::max(dx, dy);
  return std::sqrt(dx * dx + dy * dy);
}

double Triangle(double x, double y) {
  constexpr double kSine = 0.8660254037844386;  // Of 60 degrees.
  return std::max({y, kSine * x - 0.5 * y, -kSine * x - 0.5 * y}) - 0.5;
}

// The five points of a star are where at least four of the five half-planes around its pentagon hold: its
// distance is the second largest of theirs.
double Star(double x, double y) {
  constexpr double kCosines[5] = {1, 0.30901699437494745, -0.8090169943749473, -0.8090169943749476,
                                  0.30901699437494723};
  constexpr double kSines[5] = {0, 0.9510565162951535, 0.5877852522924732, -0.587785252292473,
                                -0.9510565162951536};
  constexpr double kPentagon =
      0.36;  // Of the pentagon whose sides the points stand on; thicker than a pentagram.
  double first = -8, second = -8;
  for (int i = 0; i < 5; ++i) {
    const double distance = kCosines[i] * x + kSines[i] * y - kPentagon;
    second = std::max(second, std::min(first, distance));
    first = std::max(first, distance);
  }
  // A pentagram of this size reaches past the unit circle; its tips are cut there.
  return std::max(second, Disc(x, y, 1.0));
}

}  // namespace

double GlyphDistance(Glyph glyph, double x, double y) {
  switch (glyph) {
    case Glyph::kDisc:
      return Disc(x, y, 0.8);
    case Glyph::kRing:
      return std::abs(Disc(x, y, 0.72)) - 0.16;
    case Glyph::kSquare:
      return Box(x, y, 0.68, 0.68);
    case Glyph::kFrame:
      return std::abs(Box(x, y, 0.58, 0.58)) - 0.14;
    case Glyph::kTriangle:
      return Triangle(x, y);
    case Glyph::kPlus:
      return std::min(Box(x, y, 0.92, 0.24), Box(x, y, 0.24, 0.92));
    case Glyph::kStar:
      return Star(x, y);
    case Glyph::kCrescent:
      return std::max(Disc(x, y, 0.9), -Disc(x - 0.45, y, 0.72));
    case Glyph::kBars:
      return Box(x, std::abs(y) - 0.46, 0.7, 0.21);
    case Glyph::kTee:
      return std::min(Box(x, y + 0.55, 0.66, 0.18), Box(x, y - 0.18, 0.18, 0.74));
  }
  TRIBUTARY_CHECK(false);
  return 0;
}

}  // namespace tributary
