#pragma once

#include <cstddef>
#include <cstdint>

#include "tributary/data/dataset.h"

namespace tributary {

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

}  // namespace tributary
