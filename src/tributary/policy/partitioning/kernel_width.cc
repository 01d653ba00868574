#include "tributary/policy/partitioning/kernel_width.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "tributary/base/distributions.h"
#include "tributary/policy/partitioning/panels.h"

namespace tributary {
namespace {

constexpr std::size_t kClassWidthSamples = 2048;

// Squared distances of all pairs, in no order.
std::vector<float> PairSquares(const Panels& panels) {
  std::vector<float> squares;
  squares.reserve(panels.samples() * (panels.samples() - 1) / 2);
  float block[kPanel * kPanel];
  for (std::size_t p = 0; p < panels.panels(); ++p) {
    for (std::size_t q = p; q < panels.panels(); ++q) {
      PanelSquares(panels.panel(p), panels.panel(q), panels.dimensions(), block);
      for (std::size_t r = 0; r < kPanel && p * kPanel + r < panels.samples(); ++r) {
        const std::size_t first = p == q ? r + 1 : 0;
        const std::size_t end = std::min(kPanel, panels.samples() - q * kPanel);
        for (std::size_t c = first; c < end; ++c) squares.push_back(block[r * kPanel + c]);
      }
    }
  }
  return squares;
}

double MedianRoot(std::span<float> squares) {
  const std::size_t half = squares.size() / 2;
  std::ranges::nth_element(squares, squares.begin() + static_cast<std::ptrdiff_t>(half));
  const double upper = std::sqrt(static_cast<double>(squares[half]));
  if (squares.size() % 2 == 1) return upper;
  return (upper + std::sqrt(static_cast<double>(*std::ranges::max_element(squares.first(half))))) / 2;
}

}  // namespace

double MedianDistance(const Features& features, std::span<const std::uint32_t> samples, std::size_t most,
                      Rng rng) {
  if (samples.size() < 2) return 1;
  std::vector<std::uint32_t> some(samples.begin(), samples.end());
  if (some.size() > most) {
    for (std::size_t i = 0; i < most; ++i) {
      std::swap(some[i], some[i + static_cast<std::size_t>(rng.Below(some.size() - i))]);
    }
    some.resize(most);
  }
  std::vector<float> squares = PairSquares(Panels(features, some));
  if (const double median = MedianRoot(squares); median > 0) return median;
  std::erase(squares, 0.0F);
  return squares.empty() ? 1 : MedianRoot(squares);
}

std::vector<double> ClassWidths(const Features& features, const SamplesByClass& classes,
                                std::optional<double> width, std::uint64_t seed,
                                const ParallelFor& parallel) {
  std::vector<double> widths(classes.size(), 0);
  parallel(classes.size(), [&](std::size_t c) {
    if (classes[c].empty()) return;
    widths[c] = width ? *width
                      : MedianDistance(features, classes[c], kClassWidthSamples,
                                       Rng::ForStream(seed, DeviceId{0}, "kernel width", c));
  });
  return widths;
}

float KernelFactor(double width) {
  // A width so small that its square is nothing leaves equals alone alike.
  const double factor = 0.5 / (width * width);
  return static_cast<float>(std::min(factor, static_cast<double>(std::numeric_limits<float>::max())));
}

}  // namespace tributary
