#include "tributary/explore/uniform_comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "tributary/base/text_table.h"

namespace tributary::inline explore {
namespace {

using Retrained = FrontExtras::Retrained;

struct Spread {
  double mean = 0, deviation = 0;
};

Spread SpreadOf(const std::vector<double>& values) {
  Spread spread;
  for (const double value : values) spread.mean += value / static_cast<double>(values.size());
  for (const double value : values) spread.deviation += (value - spread.mean) * (value - spread.mean);
  spread.deviation =
      values.size() < 2 ? 0 : std::sqrt(spread.deviation / static_cast<double>(values.size() - 1));
  return spread;
}

std::string SpreadText(const Spread& spread) {
  return fmt::format("{:.4f} ± {:.4f}", spread.mean, spread.deviation);
}

std::string ShareText(double share) { return fmt::format("{:.3f}", share); }

// The most expensive within the budget; `all` is sorted by cost.
const Retrained* Costliest(const std::vector<Retrained>& all, FrontCost cost, double budget) {
  const Retrained* found = nullptr;
  for (const Retrained& one : all) {
    if (one.point.Cost(cost) <= budget) found = &one;
  }
  return found;
}

}  // namespace

StatusOr<std::optional<FrontExtras::Comparison>> CompareWithUniform(Exploration& exploration,
                                                                    std::size_t repeats,
                                                                    const Exploration::Watch& watch) {
  const std::optional<ParetoFront> front = exploration.Front();
  TRIBUTARY_CHECK(front.has_value());
  FrontExtras::Comparison comparison;
  std::vector<FrontPoint> points;
  std::vector<std::vector<Retrained*>> who;  // entries per point: a vector in both lists is trained once
  for (const FrontPoint& point : exploration.Uniform()) comparison.uniform.push_back({point, {}});
  for (const FrontPoint& point : front->points) comparison.front.push_back({point, {}});
  for (auto* all : {&comparison.uniform, &comparison.front}) {
    for (Retrained& one : *all) {
      const auto known = std::ranges::find(points, one.point.dropout, &FrontPoint::dropout);
      const auto at = static_cast<std::size_t>(known - points.begin());
      if (known == points.end()) {
        points.push_back(one.point);
        who.emplace_back();
      }
      who[at].push_back(&one);
    }
  }
  for (std::size_t repeat = 1; repeat <= repeats; ++repeat) {
    const auto losses = exploration.Repeat(points, repeat, watch);
    if (!losses.ok() && losses.status().code() == StatusCode::kCancelled) break;
    if (!losses.ok()) return losses.status();
    for (std::size_t i = 0; i < points.size(); ++i) {
      for (Retrained* one : who[i]) one->losses.push_back((*losses)[i]);
    }
  }
  if (comparison.uniform.empty() || comparison.front.front().losses.empty())
    return std::optional<FrontExtras::Comparison>();
  return std::optional(std::move(comparison));
}

std::vector<double> ComparedCosts::Gains() const {
  std::vector<double> gains;
  for (std::size_t i = 0; i < front->losses.size(); ++i)
    gains.push_back(uniform->losses[i] - front->losses[i]);
  return gains;
}

std::vector<ComparedCosts> CompareAtAllCosts(const FrontExtras::Comparison& comparison, FrontCost cost) {
  std::set<double> costs;
  for (const auto* all : {&comparison.uniform, &comparison.front}) {
    for (const Retrained& one : *all) costs.insert(one.point.Cost(cost));
  }
  std::vector<ComparedCosts> compared;
  for (auto from = costs.begin(); from != costs.end() && std::next(from) != costs.end(); ++from) {
    const Retrained* uniform = Costliest(comparison.uniform, cost, *from);
    const Retrained* front = Costliest(comparison.front, cost, *from);
    if (uniform != nullptr && front != nullptr) compared.push_back({*from, *std::next(from), uniform, front});
  }
  return compared;
}

ComparisonTally TallyOf(const FrontExtras::Comparison& comparison, FrontCost cost) {
  ComparisonTally tally;
  const std::vector<ComparedCosts> all = CompareAtAllCosts(comparison, cost);
  for (const ComparedCosts& part : all) {
    const double share = (part.to - part.from) / (all.back().to - all.front().from);
    const Spread gain = SpreadOf(part.Gains());
    (part.same() ? tally.same : gain.mean > 0 ? tally.better : tally.worse) += share;
    if (gain.mean > gain.deviation) tally.clearly_better += share;
    if (gain.mean < -gain.deviation) tally.clearly_worse += share;
  }
  return tally;
}

std::string DescribeComparison(const FrontExtras::Comparison& comparison, FrontCost cost) {
  TextTable table({"from cost", "uniform at", "loss", "front at", "loss", "front gains"},
                  TextTable::Right::kAllButFirst);
  const double full = comparison.front.back().point.Cost(cost);
  for (const ComparedCosts& part : CompareAtAllCosts(comparison, cost)) {
    table.AddRow({ShareText(part.from / full), ShareText(part.uniform->point.Cost(cost) / full),
                  SpreadText(SpreadOf(part.uniform->losses)), ShareText(part.front->point.Cost(cost) / full),
                  SpreadText(SpreadOf(part.front->losses)),
                  part.same() ? "same vector" : SpreadText(SpreadOf(part.Gains()))});
  }
  return table.Format();
}

}  // namespace tributary::inline explore
