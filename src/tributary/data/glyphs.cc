#include "tributary/data/glyphs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/base/distributions.h"

namespace tributary::inline data {
namespace {

// Square roots are bit-exact everywhere, sines are not: directions are written as constants.

double Disc(double x, double y, double radius) { return std::sqrt(x * x + y * y) - radius; }

double Box(double x, double y, double half_width, double half_height) {
  const double dx = std::abs(x) - half_width, dy = std::abs(y) - half_height;
  if (dx <= 0 || dy <= 0) return std::max(dx, dy);
  return std::sqrt(dx * dx + dy * dy);
}

double Triangle(double x, double y) {
  constexpr double kSine = 0.8660254037844386;  // of 60 degrees
  return std::max({y, kSine * x - 0.5 * y, -kSine * x - 0.5 * y}) - 0.5;
}

// A point is in the star if at least four of the five half-planes around its pentagon contain it, so its
// distance is their second largest.
double Star(double x, double y) {
  constexpr double kCosines[5] = {1, 0.30901699437494745, -0.8090169943749473, -0.8090169943749476,
                                  0.30901699437494723};
  constexpr double kSines[5] = {0, 0.9510565162951535, 0.5877852522924732, -0.587785252292473,
                                -0.9510565162951536};
  constexpr double kPentagon = 0.36;  // inner radius of the pentagon; larger than in a pentagram
  double first = -8, second = -8;
  for (int i = 0; i < 5; ++i) {
    const double distance = kCosines[i] * x + kSines[i] * y - kPentagon;
    second = std::max(second, std::min(first, distance));
    first = std::max(first, distance);
  }
  // A pentagram of this size exceeds the unit circle, which cuts its tips.
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

namespace {

constexpr std::size_t kChannels = 3;
constexpr double kNoise = 0.05;    // standard deviation, on a scale of 0 to 1
constexpr double kContrast = 0.6;  // minimum distance between the colours of shape and background
// Measured over the default training set and rounded.
const Normalisation kNormalisation = {{0.454F, 0.454F, 0.454F}, {0.272F, 0.272F, 0.272F}};

using Colour = std::array<double, kChannels>;

Colour RandomColour(Rng& rng) { return {rng.Uniform(), rng.Uniform(), rng.Uniform()}; }

double Distance(const Colour& a, const Colour& b) {
  double sum = 0;
  for (std::size_t c = 0; c < kChannels; ++c) sum += (a[c] - b[c]) * (a[c] - b[c]);
  return std::sqrt(sum);
}

struct Colours {
  Colour ground;
  Colour shape;
};

// The shape is brighter than the background with probability 7/8, which tells a linear model a little.
Colours RandomColours(Rng& rng) {
  const auto brightness = [](const Colour& colour) { return colour[0] + colour[1] + colour[2]; };
  Colours colours{RandomColour(rng), RandomColour(rng)};
  while (Distance(colours.ground, colours.shape) < kContrast) colours.shape = RandomColour(rng);
  const bool brighter = brightness(colours.shape) > brightness(colours.ground);
  if (brighter != (rng.Below(8) != 0)) std::swap(colours.ground, colours.shape);
  return colours;
}

struct Direction {
  double x = 1;
  double y = 0;
};

// Uniform on the circle, without sines, which differ between libraries.
Direction RandomDirection(Rng& rng) {
  while (true) {
    const double x = Uniform(rng, -1, 1), y = Uniform(rng, -1, 1);
    const double length = std::sqrt(x * x + y * y);
    if (length > 0.05 && length <= 1) return {x / length, y / length};
  }
}

// The covered fraction of a pixel whose centre is `distance` pixels from the edge.
double Coverage(double distance) { return std::clamp(0.5 - distance, 0.0, 1.0); }

struct Canvas {
  std::size_t side;
  std::vector<Colour> pixels;

  template <typename Cover>
  void Paint(const Colour& colour, const Cover& cover) {
    for (std::size_t i = 0; i < pixels.size(); ++i) {
      const double x = static_cast<double>(i % side) + 0.5, y = static_cast<double>(i / side) + 0.5;
      const double part = cover(x, y);
      if (part <= 0) continue;
      for (std::size_t c = 0; c < kChannels; ++c) pixels[i][c] += part * (colour[c] - pixels[i][c]);
    }
  }
};

void PaintGround(Canvas& canvas, const Colour& ground, Rng& rng) {
  std::fill(canvas.pixels.begin(), canvas.pixels.end(), ground);
  // A faint gradient towards another colour.
  const Colour other = RandomColour(rng);
  const Direction slope = RandomDirection(rng);
  const auto side = static_cast<double>(canvas.side);
  canvas.Paint(other, [&](double x, double y) {
    return 0.2 * std::clamp(0.5 + (slope.x * (x - side / 2) + slope.y * (y - side / 2)) / side, 0.0, 1.0);
  });
}

void PaintDistractors(Canvas& canvas, Rng& rng) {
  const auto side = static_cast<double>(canvas.side);
  for (std::uint64_t left = rng.Below(3); left > 0; --left) {
    const Colour colour = RandomColour(rng);
    const double cx = Uniform(rng, 0, side), cy = Uniform(rng, 0, side);
    const double radius = Uniform(rng, 0.02, 0.05) * side;
    canvas.Paint(colour, [&](double x, double y) {
      return Coverage(std::sqrt((x - cx) * (x - cx) + (y - cy) * (y - cy)) - radius);
    });
  }
}

void PaintGlyph(Canvas& canvas, Glyph glyph, const Colour& colour, Rng& rng) {
  const auto side = static_cast<double>(canvas.side);
  const double radius = Uniform(rng, 0.28, 0.45) * side;
  const double cx = Uniform(rng, radius, side - radius), cy = Uniform(rng, radius, side - radius);
  const Direction turn = RandomDirection(rng);
  const double reach = (radius + 1) * (radius + 1);
  canvas.Paint(colour, [&](double x, double y) {
    const double dx = x - cx, dy = y - cy;
    if (dx * dx + dy * dy > reach) return 0.0;
    const double u = (turn.x * dx + turn.y * dy) / radius, v = (turn.x * dy - turn.y * dx) / radius;
    return Coverage(radius * GlyphDistance(glyph, u, v));
  });
}

// The sum of four 5-bit numbers per channel from one draw: close to normal, and much cheaper.
Colour RandomNoise(Rng& rng) {
  std::uint64_t bits = rng.Next();
  Colour noise{};
  for (double& channel : noise) {
    int sum = 0;
    for (int i = 0; i < 4; ++i, bits >>= 5) sum += static_cast<int>(bits & 31);
    channel = (sum - 62) * (kNoise / 18.466185312619388);  // mean and deviation of the sum
  }
  return noise;
}

void RenderGlyph(Glyph glyph, Canvas& canvas, Rng& rng, std::span<std::uint8_t> out) {
  const Colours colours = RandomColours(rng);
  PaintGround(canvas, colours.ground, rng);
  PaintDistractors(canvas, rng);
  PaintGlyph(canvas, glyph, colours.shape, rng);
  const std::size_t plane = canvas.pixels.size();
  for (std::size_t i = 0; i < plane; ++i) {
    const Colour noise = RandomNoise(rng);
    for (std::size_t c = 0; c < kChannels; ++c) {
      const double value = std::clamp(canvas.pixels[i][c] + noise[c], 0.0, 1.0);
      out[c * plane + i] = static_cast<std::uint8_t>(value * 255 + 0.5);
    }
  }
}

Dataset MakePart(const GlyphsOptions& options, std::size_t count, std::string_view purpose) {
  const auto side = static_cast<std::size_t>(options.side);
  const std::size_t elements = kChannels * side * side;
  std::vector<std::uint8_t> values(count * elements);
  std::vector<std::int32_t> labels(count);
  Canvas canvas{side, std::vector<Colour>(side * side)};
  for (std::size_t i = 0; i < count; ++i) {
    Rng rng = Rng::ForStream(options.seed, DeviceId{0}, purpose, i);
    labels[i] = static_cast<std::int32_t>(i % kGlyphNames.size());
    RenderGlyph(static_cast<Glyph>(labels[i]), canvas, rng,
                std::span(values).subspan(i * elements, elements));
  }
  DatasetInfo info{"glyphs",
                   {static_cast<std::int64_t>(kChannels), options.side, options.side},
                   static_cast<int>(kGlyphNames.size()),
                   kNormalisation};
  return std::move(*Dataset::Make(std::move(info), std::move(values), std::move(labels)));
}

}  // namespace

TrainTest MakeGlyphs(const GlyphsOptions& options) {
  TRIBUTARY_CHECK(options.side >= 16 && options.side <= 1024);
  return {MakePart(options, options.train, "glyphs-train"), MakePart(options, options.test, "glyphs-test")};
}

}  // namespace tributary::inline data
