#include "tributary/policy/dropout/genetic_operators.h"

#include <algorithm>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/base/portable_math.h"

namespace tributary {
namespace {

constexpr double kCrossed = 0.5;      // of the variables
constexpr double kSameValue = 1e-14;  // nearer parents have nothing to cross

// base ≥ 0, exponent > 0 or base > 0.
double Power(double base, double exponent) {
  return base > 0 ? PortableExp(exponent * PortableLog(base)) : 0.0;
}

// How many times the parents' distance the children's is, on the side that has `room` beyond its parent; `u` in [0, 1).
double SpreadFactor(double u, double room, double distance, double eta) {
  const double alpha = 2 - Power(1 + 2 * room / distance, -(eta + 1));
  const double exponent = 1 / (eta + 1);
  return u * alpha <= 1 ? Power(u * alpha, exponent) : Power(1 / (2 - u * alpha), exponent);
}

}  // namespace

void SimulatedBinaryCrossover(Rng& rng, std::span<const VariableBounds> bounds, double eta, Genome& first,
                              Genome& second) {
  TRIBUTARY_CHECK(first.size() == bounds.size() && second.size() == bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (rng.Uniform() >= kCrossed) continue;
    const auto [low, high] = std::minmax({first[i], second[i]});
    const double distance = high - low;
    if (!(distance > kSameValue * (bounds[i].high - bounds[i].low))) continue;
    const double u = rng.Uniform();
    const double below = SpreadFactor(u, low - bounds[i].low, distance, eta);
    const double above = SpreadFactor(u, bounds[i].high - high, distance, eta);
    const double middle = low + distance / 2;
    double lower = std::clamp(middle - below * distance / 2, bounds[i].low, bounds[i].high);
    double upper = std::clamp(middle + above * distance / 2, bounds[i].low, bounds[i].high);
    // Without this one child would have all the small values.
    if (rng.Uniform() < 0.5) std::swap(lower, upper);
    first[i] = lower;
    second[i] = upper;
  }
}

void PolynomialMutation(Rng& rng, std::span<const VariableBounds> bounds, double eta, double probability,
                        Genome& genome) {
  TRIBUTARY_CHECK(genome.size() == bounds.size());
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    if (rng.Uniform() >= probability) continue;
    const double extent = bounds[i].high - bounds[i].low;
    if (!(extent > 0)) continue;
    const double u = rng.Uniform();
    const bool down = u < 0.5;
    const double room = (down ? genome[i] - bounds[i].low : bounds[i].high - genome[i]) / extent;
    const double tail = down ? 2 * u : 2 * (1 - u);  // 0: as far as there is room; 1: not at all
    const double step = 1 - Power(tail + (1 - tail) * Power(1 - room, eta + 1), 1 / (eta + 1));
    genome[i] = std::clamp(genome[i] + (down ? -step : step) * extent, bounds[i].low, bounds[i].high);
  }
}

}  // namespace tributary
