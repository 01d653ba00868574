#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace tributary::inline reproduce {

// The stream rates of ScaDLES's settings: distributions of which the paper gives mean and standard deviation, and no
// draw. A result on slow streams is about mean rate over slowest rate, so a draw decides it; that is why these are fixed.
struct RateSetting {
  enum class Shape { kUniform, kNormal };

  std::string name;  // as it is part of an arm's name
  Shape shape = Shape::kUniform;
  double mean = 0;       // samples per second
  double deviation = 0;  // standard
  double least = 0;      // rates below are raised to it
};

// S1, S2, S1', S2'.
const std::vector<RateSetting>& RateSettings();

// The quantiles (i − ½) / devices, to a tenth of a sample per second.
std::vector<double> QuantileRates(const RateSetting& setting, std::size_t devices);
// Drawn at random instead, a function of the seed.
std::vector<double> DrawnRates(const RateSetting& setting, std::size_t devices, std::uint64_t seed);

}  // namespace tributary::inline reproduce
