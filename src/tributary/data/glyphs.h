#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "tributary/data/dataset.h"

namespace tributary::inline data {

struct GlyphsOptions {
  std::size_t train = 10'000;
  std::size_t test = 2'000;
  // Height and width of the images, at least 16. Smaller images are harder to classify.
  int side = 32;
  std::uint64_t seed = 0;
};

// A data set without download: colour images of ten shapes at random positions, sizes, angles and colours on
// random backgrounds, with small distractors and noise. A small CNN learns it within minutes; a linear model
// is hardly better than chance, because single pixels carry no information.
//
// Sample i has class i mod 10. Every image is a function of (seed, part, index) alone, bit-identical on every
// machine, so a larger set starts with the same samples.
TrainTest MakeGlyphs(const GlyphsOptions& options);

// Ten shapes inside the unit circle; none is a rotated, mirrored or scaled copy of another.
enum class Glyph { kDisc, kRing, kSquare, kFrame, kTriangle, kPlus, kStar, kCrescent, kBars, kTee };

constexpr std::array<std::string_view, 10> kGlyphNames = {"disc", "ring", "square",   "frame", "triangle",
                                                          "plus", "star", "crescent", "bars",  "tee"};

// Signed distance of (x, y) to the shape's edge, negative inside. Exact near straight edges, which
// anti-aliasing needs; outside corners it may be smaller than the true distance.
double GlyphDistance(Glyph glyph, double x, double y);

}  // namespace tributary::inline data
