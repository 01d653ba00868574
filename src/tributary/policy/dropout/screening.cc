#include "tributary/policy/dropout/screening.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

#include "tributary/base/check.h"
#include "tributary/policy/dropout/pareto.h"

namespace tributary::inline policy {
namespace {

constexpr std::size_t kFewestToLearnFrom = 10;
using ScreenFeatures = std::array<double, 3>;

// value ≈ weights · (1, screened, cost)
struct Forecast {
  ScreenFeatures weights{};
  double deviation = 0;

  double Of(const ScreenFeatures& features) const {
    return weights[0] * features[0] + weights[1] * features[1] + weights[2] * features[2];
  }
};

// Normal equations, by Gaussian elimination. Linearly dependent features (e.g. equal costs) get weight 0.
Forecast FitForecast(std::span<const ScreenFeatures> features, std::span<const double> values) {
  std::array<std::array<double, 4>, 3> system{};
  for (std::size_t i = 0; i < features.size(); ++i) {
    for (std::size_t r = 0; r < 3; ++r) {
      for (std::size_t c = 0; c < 3; ++c) system[r][c] += features[i][r] * features[i][c];
      system[r][3] += features[i][r] * values[i];
    }
  }
  std::array<bool, 3> used{};
  ScreenFeatures scale{};
  for (std::size_t r = 0; r < 3; ++r) scale[r] = system[r][r];
  for (std::size_t pivot = 0; pivot < 3; ++pivot) {
    used[pivot] = system[pivot][pivot] > 1e-9 * scale[pivot];
    if (!used[pivot]) continue;
    for (std::size_t r = 0; r < 3; ++r) {
      if (r == pivot) continue;
      const double factor = system[r][pivot] / system[pivot][pivot];
      for (std::size_t c = 0; c < 4; ++c) system[r][c] -= factor * system[pivot][c];
    }
  }
  Forecast fit;
  for (std::size_t r = 0; r < 3; ++r) fit.weights[r] = used[r] ? system[r][3] / system[r][r] : 0;
  double squares = 0;
  for (std::size_t i = 0; i < features.size(); ++i) {
    const double error = values[i] - fit.Of(features[i]);
    squares += error * error;
  }
  fit.deviation = std::sqrt(squares / static_cast<double>(std::max<std::size_t>(1, features.size() - 3)));
  return fit;
}

}  // namespace

std::vector<bool> WorthEvaluating(std::span<const FullyEvaluated> known,
                                  std::span<const ScreenedOnly> candidates, const ScreeningOptions& options) {
  TRIBUTARY_CHECK(options.share > 0 && options.share <= 1 && options.margin >= 0);
  if (known.size() < kFewestToLearnFrom || candidates.empty())
    return std::vector<bool>(candidates.size(), true);
  double costliest = std::numeric_limits<double>::min();
  for (const FullyEvaluated& one : known) costliest = std::max(costliest, std::abs(one.cost));
  std::vector<ScreenFeatures> features;
  std::vector<double> values;
  for (const FullyEvaluated& one : known) {
    features.push_back({1, one.screened, one.cost / costliest});
    values.push_back(one.value);
  }
  const Forecast fit = FitForecast(features, values);
  std::vector<double> gains;  // forecast improvement over `known` at no more cost
  std::vector<Objectives> foretold;
  for (const ScreenedOnly& candidate : candidates) {
    double to_beat = std::numeric_limits<double>::infinity();
    for (const FullyEvaluated& one : known) {
      if (one.cost <= candidate.cost) to_beat = std::min(to_beat, one.value);
    }
    const double value = fit.Of({1, candidate.screened, candidate.cost / costliest});
    foretold.push_back({candidate.cost, value});
    gains.push_back(to_beat - value);
  }
  const auto quota =
      static_cast<std::size_t>(std::ceil(options.share * static_cast<double>(candidates.size()) - 1e-9));
  std::vector<bool> worth(candidates.size(), false);
  std::size_t in = 0;
  for (std::vector<std::size_t> layer : NonDominatedSort(foretold)) {
    std::ranges::stable_sort(layer, [&](std::size_t a, std::size_t b) { return gains[a] > gains[b]; });
    for (const std::size_t candidate : layer) {
      if (in == quota || gains[candidate] < -options.margin * fit.deviation) continue;
      worth[candidate] = true;
      ++in;
    }
  }
  if (in == 0) worth[static_cast<std::size_t>(std::ranges::max_element(gains) - gains.begin())] = true;
  return worth;
}

}  // namespace tributary::inline policy
