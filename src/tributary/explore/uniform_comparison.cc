#include "tributary/explore/uniform_comparison.h"

#include <cmath>
#include <cstdio>

#include "tributary/base/text_table.h"
#include "tributary/base/units.h"

namespace tributary {
namespace {

struct Spread {
  double mean = 0, deviation = 0;
};

Spread SpreadOf(const std::vector<double>& values) {
  Spread spread;
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  for (const double value : values) spread.deviation += (value - spread.mean) * (value - spread.mean);
  spread.deviation = values.size() < 2 ? 0 : std::sqrt(spread.deviation / static_cast<double>(values.size() - 1));
  return spread;
}

std::string SpreadText(const Spread& spread) {
  char text[64];
  std::snprintf(text, sizeof text, "%.4f ± %.4f", spread.mean, spread.deviation);
  return text;
}

std::string CostText(double value, FrontCost cost) {
  if (cost == FrontCost::kMacs) return FormatCount(value);
  char text[64];
  std::snprintf(text, sizeof text, "%.2f ms", value);
  return text;
}

bool SameVector(const FrontExtras::Comparison& pair) { return pair.uniform.dropout == pair.front.dropout; }

// Of the front over the uniform vector, under the same chance.
std::vector<double> GainsOf(const FrontExtras::Comparison& pair) {
  std::vector<double> gains;
  for (std::size_t i = 0; i < pair.of_front.size(); ++i) gains.push_back(pair.of_uniform[i] - pair.of_front[i]);
  return gains;
}

}  // namespace

StatusOr<std::vector<FrontExtras::Comparison>> CompareWithUniform(Exploration& exploration, std::size_t repeats,
                                                                  const Exploration::Watch& watch) {
  const std::optional<ParetoFront> front = exploration.Front();
  TRIBUTARY_CHECK(front.has_value());
  std::vector<FrontExtras::Comparison> pairs;
  std::vector<FrontPoint> points;
  for (const FrontPoint& uniform : exploration.Uniform()) {
    const FrontPoint* found = front->BestFit(uniform.Cost(front->cost));
    if (found == nullptr) continue;
    pairs.push_back({uniform, *found, {}, {}});
    points.push_back(uniform);
    points.push_back(*found);
  }
  for (std::size_t repeat = 1; repeat <= repeats; ++repeat) {
    const auto losses = exploration.Repeat(points, repeat, watch);
    if (!losses.ok() && losses.status().code() == StatusCode::kCancelled) break;
    if (!losses.ok()) return losses.status();
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      pairs[i].of_uniform.push_back((*losses)[2 * i]);
      pairs[i].of_front.push_back((*losses)[2 * i + 1]);
    }
  }
  std::erase_if(pairs, [](const auto& pair) { return pair.of_front.empty(); });
  return pairs;
}

ComparisonTally TallyOf(const std::vector<FrontExtras::Comparison>& comparison, const ParetoFront& front) {
  ComparisonTally tally;
  const auto cost_at = [&](std::size_t i) {
    return (i < comparison.size() ? comparison[i].uniform : front.points.back()).Cost(front.cost);
  };
  for (std::size_t i = 0; i < comparison.size(); ++i) {
    const bool better = !SameVector(comparison[i]) && SpreadOf(GainsOf(comparison[i])).mean > 0;
    ++(SameVector(comparison[i]) ? tally.same : better ? tally.better : tally.worse);
    if (better) tally.better_share += (cost_at(i + 1) - cost_at(i)) / (cost_at(comparison.size()) - cost_at(0));
  }
  return tally;
}

std::string DescribeComparison(const std::vector<FrontExtras::Comparison>& comparison, FrontCost cost) {
  TextTable table({"uniform at", "loss", "front at", "loss", "front gains"}, TextTable::Right::kAllButFirst);
  for (const FrontExtras::Comparison& pair : comparison) {
    table.AddRow({CostText(pair.uniform.Cost(cost), cost), SpreadText(SpreadOf(pair.of_uniform)),
                  CostText(pair.front.Cost(cost), cost), SpreadText(SpreadOf(pair.of_front)),
                  SameVector(pair) ? "same vector" : SpreadText(SpreadOf(GainsOf(pair)))});
  }
  return table.Format();
}

}  // namespace tributary
