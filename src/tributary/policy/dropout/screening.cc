#include "tributary/policy/dropout/screening.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>

namespace tributary {
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

// The normal equations by elimination. A feature that says nothing of its own (all costs equal, say) gets no weight.
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

std::vector<bool> WorthEvaluating(std::span<const FullyEvaluated> known, std::span<const ScreenedOnly> candidates,
                                  double margin) {
  std::vector<bool> worth(candidates.size(), true);
  if (known.size() < kFewestToLearnFrom || candidates.empty()) return worth;
  double costliest = std::numeric_limits<double>::min();
  for (const FullyEvaluated& one : known) costliest = std::max(costliest, std::abs(one.cost));
  std::vector<ScreenFeatures> features;
  std::vector<double> values;
  for (const FullyEvaluated& one : known) {
    features.push_back({1, one.screened, one.cost / costliest});
    values.push_back(one.value);
  }
  const Forecast fit = FitForecast(features, values);
  std::size_t most_promising = 0;
  double largest_gain = -std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    double to_beat = std::numeric_limits<double>::infinity();
    for (const FullyEvaluated& one : known) {
      if (one.cost <= candidates[i].cost) to_beat = std::min(to_beat, one.value);
    }
    const double foretold = fit.Of({1, candidates[i].screened, candidates[i].cost / costliest});
    const double gain = to_beat - (foretold - margin * fit.deviation);
    worth[i] = gain >= 0;
    if (gain > largest_gain) {
      largest_gain = gain;
      most_promising = i;
    }
  }
  worth[most_promising] = true;
  return worth;
}

}  // namespace tributary
