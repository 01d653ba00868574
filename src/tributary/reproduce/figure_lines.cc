#include "tributary/reproduce/figure_lines.h"

#include <algorithm>

namespace tributary {

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

}  // namespace tributary
