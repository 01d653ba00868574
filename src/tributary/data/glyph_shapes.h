#pragma once

#include <array>
#include <string_view>

namespace tributary {

// Ten shapes of which none is another one turned, mirrored or scaled, each drawn inside the unit circle.
enum class Glyph { kDisc, kRing, kSquare, kFrame, kTriangle, kPlus, kStar, kCrescent, kBars, kTee };

constexpr std::array<std::string_view, 10> kGlyphNames = {"disc", "ring", "square",   "frame", "triangle",
                                                          "plus", "star", "crescent", "bars",  "tee"};

// How far (x, y) is from the edge of the shape: negative inside. Exact near straight edges, which is where it
// matters for anti-aliasing; outside corners it may be less than the true distance.
double GlyphDistance(Glyph glyph, double x, double y);

}  // namespace tributary
