#include "tributary/reproduce/summary.h"

#include <algorithm>
#include <cmath>
#include <set>

namespace tributary::inline reproduce {
namespace {

using BySeed = std::map<std::uint64_t, double>;

// The metric in every run of the arm that has it, ordered by seed, as floating-point sums depend on order.
BySeed ValuesOf(const std::string& arm, const std::string& metric, std::span<const ArmResult> results) {
  BySeed values;
  for (const ArmResult& result : results) {
    if (result.arm != arm) continue;
    const auto number = result.measurement.numbers.find(metric);
    if (number != result.measurement.numbers.end()) values.emplace(result.seed, number->second);
  }
  return values;
}

double Compare(BaselineComparison::Kind kind, double arm, double baseline) {
  switch (kind) {
    case BaselineComparison::Kind::kRatio:
      return arm / baseline;
    case BaselineComparison::Kind::kSpeedUp:
      return baseline / arm;
    case BaselineComparison::Kind::kSaving:
      return 1 - arm / baseline;
    case BaselineComparison::Kind::kDifference:
      break;
  }
  return arm - baseline;
}

BySeed CompareSeeds(const BaselineComparison& comparison, const std::string& arm,
                    std::span<const ArmResult> results) {
  BySeed values;
  const auto baseline = comparison.baselines.find(arm);
  if (baseline == comparison.baselines.end()) return values;
  const BySeed base = ValuesOf(baseline->second, comparison.metric, results);
  for (const auto& [seed, value] : ValuesOf(arm, comparison.metric, results)) {
    const auto other = base.find(seed);
    if (other == base.end()) continue;
    const double compared = Compare(comparison.kind, value, other->second);
    // Not usable: in particular a ratio to zero.
    if (IsUsableNumber(compared)) values.emplace(seed, compared);
  }
  return values;
}

void Add(const std::string& name, const BySeed& values, ArmSummary& summary) {
  std::vector<double> plain;
  for (const auto& [seed, value] : values) plain.push_back(value);
  if (const auto spread = SpreadOf(plain)) summary.figures.emplace(name, *spread);
}

}  // namespace

std::optional<SeedSpread> SpreadOf(std::span<const double> values) {
  if (values.empty()) return std::nullopt;
  const auto count = static_cast<double>(values.size());
  SeedSpread spread{values.size(), 0, std::nullopt, values[0], values[0]};
  for (const double value : values) {
    spread.mean += value / count;
    spread.low = std::min(spread.low, value);
    spread.high = std::max(spread.high, value);
  }
  // Rounding must not move the mean of equal values.
  spread.mean = std::clamp(spread.mean, spread.low, spread.high);
  if (values.size() < 2) return spread;
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.deviation = std::sqrt(squares / (count - 1));
  return spread;
}

ReproductionSummary Summarise(const Reproduction& reproduction, std::span<const ArmResult> results) {
  ReproductionSummary summary;
  std::set<std::uint64_t> seeds;
  for (const Arm& arm : reproduction.arms) {
    ArmSummary one{arm.name, 0, {}};
    for (const ArmResult& result : results) {
      if (result.arm != arm.name) continue;
      seeds.insert(result.seed);
      ++one.runs;
    }
    for (const Metric& metric : reproduction.metrics)
      Add(metric.name, ValuesOf(arm.name, metric.name, results), one);
    for (const BaselineComparison& comparison : reproduction.comparisons)
      Add(comparison.name, CompareSeeds(comparison, arm.name, results), one);
    summary.arms.push_back(std::move(one));
  }
  summary.seeds.assign(seeds.begin(), seeds.end());
  return summary;
}

}  // namespace tributary::inline reproduce
