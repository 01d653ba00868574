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

ComparisonTally TallyOf(const std::vector<FrontExtras::Comparison>& comparison) {
  ComparisonTally tally;
  for (const FrontExtras::Comparison& pair : comparison) {
    const double gain = SpreadOf(pair.of_uniform).mean - SpreadOf(pair.of_front).mean;
    ++(SameVector(pair) ? tally.same : gain > 0 ? tally.better : tally.worse);
  }
  return tally;
}

std::string DescribeComparison(const std::vector<FrontExtras::Comparison>& comparison, FrontCost cost) {
  TextTable table({"uniform at", "loss", "front at", "loss", "front is"}, TextTable::Right::kAllButFirst);
  for (const FrontExtras::Comparison& pair : comparison) {
    const Spread uniform = SpreadOf(pair.of_uniform), front = SpreadOf(pair.of_front);
    const char* verdict = SameVector(pair) ? "the same" : front.mean < uniform.mean ? "better" : "not better";
    table.AddRow({CostText(pair.uniform.Cost(cost), cost), SpreadText(uniform), CostText(pair.front.Cost(cost), cost),
                  SpreadText(front), verdict});
  }
  return table.Format();
}

}  // namespace tributary
