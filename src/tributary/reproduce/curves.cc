#include <algorithm>
#include <map>

#include "tributary/reproduce/report.h"

namespace tributary::inline reproduce {
namespace {

// As fine as a screen shows; with fewer points in total, curves are read at exactly those.
constexpr std::size_t kMostGridPoints = 400;

// Interpolates a curve at increasing values of x within its range.
class CurveReader {
 public:
  explicit CurveReader(const std::vector<Point>& curve) : curve_(curve) {}

  double At(double x) {
    // Advance to the last point at or left of x: of several points at one x, the last counts.
    while (at_ + 1 < curve_.size() && curve_[at_ + 1].x <= x) ++at_;
    const Point& before = curve_[at_];
    if (at_ + 1 == curve_.size() || x <= before.x) return before.y;
    const Point& after = curve_[at_ + 1];
    return before.y + (after.y - before.y) * ((x - before.x) / (after.x - before.x));
  }

 private:
  const std::vector<Point>& curve_;
  std::size_t at_ = 0;
};

std::vector<double> CommonGrid(const std::vector<const std::vector<Point>*>& curves) {
  double low = curves.front()->front().x, high = curves.front()->back().x;
  for (const auto* curve : curves) {
    low = std::max(low, curve->front().x);
    high = std::min(high, curve->back().x);
  }
  std::vector<double> grid;
  if (low > high) return grid;
  for (const auto* curve : curves) {
    for (const Point& point : *curve) {
      if (point.x >= low && point.x <= high) grid.push_back(point.x);
    }
  }
  std::sort(grid.begin(), grid.end());
  grid.erase(std::unique(grid.begin(), grid.end()), grid.end());
  if (grid.size() <= kMostGridPoints) return grid;
  grid.clear();
  for (std::size_t i = 0; i < kMostGridPoints; ++i) {
    const double share = static_cast<double>(i) / static_cast<double>(kMostGridPoints - 1);
    grid.push_back(std::clamp(low + (high - low) * share, low, high));
  }
  return grid;
}

}  // namespace

std::vector<LineSeries> MeanCurves(const Reproduction& reproduction, std::span<const ArmResult> results) {
  std::vector<LineSeries> all;
  for (const Arm& arm : reproduction.arms) {
    std::map<std::uint64_t, const std::vector<Point>*> by_seed;
    for (const ArmResult& result : results) {
      if (result.arm == arm.name && !result.measurement.curve.empty())
        by_seed.emplace(result.seed, &result.measurement.curve);
    }
    if (by_seed.empty()) continue;
    std::vector<const std::vector<Point>*> curves;
    std::vector<CurveReader> readers;
    for (const auto& [seed, curve] : by_seed) {
      curves.push_back(curve);
      readers.emplace_back(*curve);
    }
    const std::size_t seeds = curves.size();
    LineSeries series;
    series.name = arm.name + " (" + std::to_string(seeds) + (seeds == 1 ? " seed)" : " seeds)");
    for (const double x : CommonGrid(curves)) {
      double mean = 0;
      LineSeries::Band band{kLargestNumber, -kLargestNumber};
      for (CurveReader& reader : readers) {
        const double y = reader.At(x);
        mean += y / static_cast<double>(seeds);
        band = {std::min(band.low, y), std::max(band.high, y)};
      }
      series.points.push_back({x, std::clamp(mean, band.low, band.high)});
      if (seeds > 1) series.band.push_back(band);
    }
    if (!series.points.empty()) all.push_back(std::move(series));
  }
  return all;
}

std::vector<LineSeries> FigureLines(const FigureChart& chart, const ReproductionSummary& summary) {
  std::vector<LineSeries> all;
  for (const FigureChart::Line& line : chart.lines) {
    LineSeries series;
    series.name = line.name;
    bool spread = false;
    for (const std::string& name : line.arms) {
      const auto arm = std::ranges::find(summary.arms, name, &ArmSummary::arm);
      if (arm == summary.arms.end()) continue;
      const auto x = arm->figures.find(chart.x), y = arm->figures.find(chart.y);
      if (x == arm->figures.end() || y == arm->figures.end()) continue;
      series.points.push_back({x->second.mean, y->second.mean});
      series.band.push_back({y->second.low, y->second.high});
      spread = spread || y->second.runs > 1;
    }
    if (series.points.empty()) continue;
    if (!spread) series.band.clear();
    all.push_back(std::move(series));
  }
  return all;
}

}  // namespace tributary::inline reproduce
