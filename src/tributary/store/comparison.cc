#include "tributary/store/comparison.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "tributary/base/saturating.h"

namespace tributary::inline store {
namespace {

// The evaluations that count.
std::vector<const EvaluationRecord*> Counting(const RunHistory& history) {
  const auto central = [](const EvaluationRecord& record) {
    return record.evaluated.where == EvaluatedWhere::kCentral;
  };
  const bool measured = std::ranges::any_of(history.evaluations, central);
  std::vector<const EvaluationRecord*> counting;
  for (const EvaluationRecord& record : history.evaluations) {
    if (measured == central(record)) counting.push_back(&record);
  }
  return counting;
}

std::optional<Reached> FirstAt(const RunHistory& history, double target) {
  for (const EvaluationRecord* record : Counting(history)) {
    if (record->evaluated.accuracy < target) continue;
    return Reached{record->time, record->evaluated.round, SaturatingAdd(record->down, record->up)};
  }
  return std::nullopt;
}

// Empty if either value is 0.
std::optional<double> RatioOf(double first, double other) {
  if (first <= 0 || other <= 0) return std::nullopt;
  return first / other;
}

}  // namespace

std::optional<double> CommonTarget(std::span<const RunHistory> runs) {
  std::optional<double> common;
  for (const RunHistory& history : runs) {
    std::optional<double> best;
    for (const EvaluationRecord* record : Counting(history)) {
      best = std::max(best.value_or(record->evaluated.accuracy), record->evaluated.accuracy);
    }
    if (!best) return std::nullopt;
    common = std::min(common.value_or(*best), *best);
  }
  if (!common) return std::nullopt;
  // The tolerance absorbs rounding: 0.29 · 100 is less than 29.
  const double whole = std::floor(100 * *common + 1e-9) / 100;
  return whole > 0 ? whole : *common;
}

Comparison Compare(std::span<const RunHistory> runs, double target) {
  Comparison comparison{target, {}};
  for (const RunHistory& history : runs) {
    ComparedRun compared{.run = history.run, .reached = FirstAt(history, target)};
    const auto& first = comparison.runs.empty() ? compared.reached : comparison.runs.front().reached;
    if (compared.reached && first) {
      compared.sooner = RatioOf(ToSeconds(first->time), ToSeconds(compared.reached->time));
      compared.fewer_rounds = RatioOf(static_cast<double>(first->round.value),
                                      static_cast<double>(compared.reached->round.value));
      compared.fewer_bytes = RatioOf(static_cast<double>(first->bytes.value),
                                     static_cast<double>(compared.reached->bytes.value));
    }
    comparison.runs.push_back(std::move(compared));
  }
  return comparison;
}

std::string DrawComparison(std::span<const RunHistory> runs, double target) {
  double longest = 0;
  bool simulated = true;
  for (const RunHistory& history : runs) {
    longest = std::max(longest, ToSeconds(history.run.time));
    simulated = simulated && history.run.simulated;
  }
  const bool hours = longest >= 2 * 3600, minutes = !hours && longest >= 120;
  const double unit = hours ? 3600 : minutes ? 60 : 1;
  LineChart chart;
  chart.title = "Accuracy over time";
  chart.x_title = fmt::format("{}{}", simulated ? "virtual " : "",
                              hours     ? "hours"
                              : minutes ? "minutes"
                                        : "seconds");
  chart.y_title = "accuracy, %";
  for (const RunHistory& history : runs) {
    LineSeries series;
    series.name = fmt::format("{} ({})", history.run.name, history.run.what.method);
    for (const EvaluationRecord* record : Counting(history)) {
      const Point point{ToSeconds(record->time) / unit, 100 * record->evaluated.accuracy};
      if (std::isfinite(point.y) && std::abs(point.y) <= 1000) series.points.push_back(point);
    }
    chart.series.push_back(std::move(series));
  }
  chart.references.push_back({100 * target, fmt::format("{:g} %", std::round(1e4 * target) / 100)});
  return DrawLineChart(chart);
}

}  // namespace tributary::inline store
