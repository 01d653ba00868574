#include "tributary/base/distributions.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/check.h"
#include "tributary/base/portable_math.h"

namespace tributary::inline base {
namespace {

// Uniform in (0, 1], so that its logarithm is finite.
double UniformAboveZero(Rng& rng) { return 1.0 - rng.Uniform(); }

// Marsaglia and Tsang (2000), for shape ≥ 1.
double GammaAboveOne(Rng& rng, double shape) {
  const double d = shape - 1.0 / 3.0;
  const double c = 1.0 / std::sqrt(9.0 * d);
  while (true) {
    const double x = Normal(rng);
    const double v = 1.0 + c * x;
    if (v <= 0) continue;
    const double cube = v * v * v;
    if (PortableLog(UniformAboveZero(rng)) < 0.5 * x * x + d - d * cube + d * PortableLog(cube))
      return d * cube;
  }
}

// ln of a Gamma(shape) draw; for shape < 1 by Gamma(shape) = Gamma(shape + 1) · U^(1/shape).
double LogGammaDraw(Rng& rng, double shape) {
  if (shape >= 1) return PortableLog(GammaAboveOne(rng, shape));
  return PortableLog(GammaAboveOne(rng, shape + 1)) + PortableLog(UniformAboveZero(rng)) / shape;
}

// Fenwick tree of the remaining counts, which finds the kind of the i-th remaining item.
class Urn {
 public:
  explicit Urn(std::span<const std::int64_t> counts) : tree_(counts.size() + 1, 0) {
    for (std::size_t i = 1; i <= counts.size(); ++i) {
      tree_[i] += counts[i - 1];
      const std::size_t parent = i + (i & (0 - i));
      if (parent <= counts.size()) tree_[parent] += tree_[i];
    }
    while (top_ * 2 <= counts.size()) top_ *= 2;
  }

  // Removes the item at `position` among the remaining items and returns its kind.
  std::size_t Take(std::int64_t position) {
    std::size_t index = 0;
    for (std::size_t step = top_; step > 0; step /= 2) {
      if (index + step < tree_.size() && tree_[index + step] <= position) {
        index += step;
        position -= tree_[index];
      }
    }
    for (std::size_t i = index + 1; i < tree_.size(); i += i & (0 - i)) --tree_[i];
    return index;
  }

 private:
  std::vector<std::int64_t> tree_;
  std::size_t top_ = 1;
};

}  // namespace

double Uniform(Rng& rng, double low, double high) { return low + (high - low) * rng.Uniform(); }

double Normal(Rng& rng, double mean, double deviation) {
  // Marsaglia's polar method. The second value is discarded, so that a draw leaves no hidden state.
  while (true) {
    const double u = 2 * rng.Uniform() - 1;
    const double v = 2 * rng.Uniform() - 1;
    const double s = u * u + v * v;
    if (s >= 1 || s == 0) continue;
    return mean + deviation * u * std::sqrt(-2 * PortableLog(s) / s);
  }
}

double Gamma(Rng& rng, double shape) {
  TRIBUTARY_CHECK(shape > 0);
  return shape >= 1 ? GammaAboveOne(rng, shape) : PortableExp(LogGammaDraw(rng, shape));
}

std::int64_t Binomial(Rng& rng, std::int64_t trials, double p) {
  TRIBUTARY_CHECK(trials >= 0 && p >= 0 && p <= 1);
  std::int64_t successes = 0;
  // For many trials, draw the middle order statistic of their uniforms (a Beta variate) and keep the side
  // that contains p. Each iteration halves the trials and stays exact.
  while (trials > 32 && p > 0 && p < 1) {
    const std::int64_t middle = trials / 2 + 1;
    const double a = GammaAboveOne(rng, static_cast<double>(middle));
    const double b = GammaAboveOne(rng, static_cast<double>(trials + 1 - middle));
    const double split = a / (a + b);
    if (split <= p) {
      successes += middle;
      trials -= middle;
      p = split < 1 ? std::clamp((p - split) / (1 - split), 0.0, 1.0) : 0.0;
    } else {
      trials = middle - 1;
      p = std::clamp(p / split, 0.0, 1.0);
    }
  }
  for (; trials > 0; --trials) successes += rng.Uniform() < p ? 1 : 0;
  return successes;
}

std::vector<double> Dirichlet(Rng& rng, std::span<const double> concentrations) {
  std::vector<double> point;
  point.reserve(concentrations.size());
  for (const double concentration : concentrations) {
    TRIBUTARY_CHECK(concentration > 0);
    point.push_back(LogGammaDraw(rng, concentration));
  }
  if (point.empty()) return point;
  const double largest = *std::max_element(point.begin(), point.end());
  for (double& value : point) value = PortableExp(value - largest);
  const double sum = std::accumulate(point.begin(), point.end(), 0.0);
  for (double& value : point) value /= sum;
  return point;
}

std::vector<std::int64_t> Multinomial(Rng& rng, std::int64_t trials, std::span<const double> weights) {
  // Suffix sums: the weight of class i and later classes, without the drift of repeated subtraction.
  std::vector<double> left(weights.size() + 1, 0.0);
  for (std::size_t i = weights.size(); i-- > 0;) {
    TRIBUTARY_CHECK(weights[i] >= 0);
    left[i] = left[i + 1] + weights[i];
  }
  TRIBUTARY_CHECK(left[0] > 0 && std::isfinite(left[0]));
  std::vector<std::int64_t> counts(weights.size(), 0);
  for (std::size_t i = 0; i < weights.size() && trials > 0; ++i) {
    if (weights[i] == 0) continue;
    counts[i] = Binomial(rng, trials, std::min(1.0, weights[i] / left[i]));
    trials -= counts[i];
  }
  return counts;
}

std::vector<std::int64_t> MultivariateHypergeometric(Rng& rng, std::span<const std::int64_t> counts,
                                                     std::int64_t draws) {
  std::int64_t total = 0;
  for (const std::int64_t count : counts) {
    TRIBUTARY_CHECK(count >= 0);
    total += count;
  }
  TRIBUTARY_CHECK(draws >= 0 && draws <= total);
  // Drawing the items that remain is equivalent: draw the smaller set.
  const bool complement = draws > total / 2;
  std::vector<std::int64_t> taken(counts.size(), 0);
  Urn urn(counts);
  for (std::int64_t left = complement ? total - draws : draws; left > 0; --left, --total)
    ++taken[urn.Take(static_cast<std::int64_t>(rng.Below(static_cast<std::uint64_t>(total))))];
  if (complement) {
    for (std::size_t i = 0; i < taken.size(); ++i) taken[i] = counts[i] - taken[i];
  }
  return taken;
}

}  // namespace tributary::inline base
