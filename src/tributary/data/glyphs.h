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
  // Height and width of the images, at least 16. Smaller ones are harder to tell apart.
  int side = 32;
  std::uint64_t seed = 0;
};

// A data set that needs no download: colour images of ten drawn shapes at random places, sizes and angles, in
// random colours on random grounds, among small distractors and noise. A small convolutional network learns
// it well within minutes; a linear model hardly does better than chance, because no pixel by itself says
// anything.
//
// Classes are as frequent as each other (sample i has class i mod 10). Every image is a function of (seed,
// part, index) alone, the same to the bit on every machine: asking for more samples does not change the first
// ones.
TrainTest MakeGlyphs(const GlyphsOptions& options);

// Ten shapes of which none is another one turned, mirrored or scaled, each drawn inside the unit circle.
enum class Glyph { kDisc, kRing, kSquare, kFrame, kTriangle, kPlus, kStar, kCrescent, kBars, kTee };

constexpr std::array<std::string_view, 10> kGlyphNames = {"disc", "ring", "square",   "frame", "triangle",
                                                          "plus", "star", "crescent", "bars",  "tee"};

// How far (x, y) is from the edge of the shape: negative inside. Exact near straight edges, which is where it
// matters for anti-aliasing; outside corners it may be less than the true distance.
double GlyphDistance(Glyph glyph, double x, double y);

}  // namespace tributary::inline data
