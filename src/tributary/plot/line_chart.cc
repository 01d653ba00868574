#include "tributary/plot/line_chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/plot/axes.h"

namespace tributary::inline plot {
namespace {

constexpr double kPlotWidth = 680, kPlotHeight = 380, kTop = 62, kAxisHeight = 46, kMargin = 20;
constexpr double kTextSize = 11, kLegendRow = 18, kSwatch = 24;
constexpr std::size_t kMostMarkedPoints = 40;
constexpr double kLargest = 1e18;
constexpr const char* kReference = "#555555";

// Ranges, scales and sizes computed from the data and texts.
struct Layout {
  bool has_points = false;
  Ticks x_ticks, y_ticks;
  LinearScale x, y;
  double left = 0, width = 0, height = 0;
  std::size_t legend_columns = 1;
  double legend_column = 0;  // width of a column of the legend
};

// Text widths are unknown; this is a generous estimate for a sans-serif font.
double TextWidth(const std::string& text) {
  const auto letters = std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0U) != 0x80U;  // Skip UTF-8 continuation bytes.
  });
  return 0.6 * kTextSize * static_cast<double>(letters);
}

double WidestOf(const std::vector<std::string>& texts) {
  double widest = 0;
  for (const std::string& text : texts) widest = std::max(widest, TextWidth(text));
  return widest;
}

bool HasPlace(const LineChart& chart, const Point& point) { return !chart.log_x || point.x > 0; }

double OnAxis(const LineChart& chart, double x) { return chart.log_x ? std::log10(x) : x; }

// Widens a range that is a single value or too narrow for steps above rounding errors.
AxisRange Spread(AxisRange range) {
  const double size = std::max(std::abs(range.low), std::abs(range.high));
  if (range.high - range.low > std::max(1e-9 * size, 1e-200)) return range;
  const double around = size > 1e-200 ? size * 0.05 : 1;
  return {range.low - around, range.high + around};
}

// Extends the range to zero if that hardly shrinks the data.
AxisRange WithZeroIfNear(AxisRange range) {
  if (range.low > 0 && range.low <= 0.3 * range.high) range.low = 0;
  return range;
}

void MeasureAxes(const LineChart& chart, Layout& layout) {
  AxisRange x, y;
  for (const LineSeries& series : chart.series) {
    TRIBUTARY_CHECK(series.band.empty() || series.band.size() == series.points.size());
    for (std::size_t i = 0; i < series.points.size(); ++i) {
      if (!HasPlace(chart, series.points[i])) continue;
      x.Include(series.points[i].x);
      y.Include(series.points[i].y);
      if (series.band.empty()) continue;
      y.Include(series.band[i].low);
      y.Include(series.band[i].high);
    }
  }
  layout.has_points = !x.empty();
  for (const ReferenceLine& reference : chart.references) y.Include(reference.y);
  for (const double end : {x.low, x.high, y.low, y.high})
    TRIBUTARY_CHECK(!std::isfinite(end) || std::abs(end) <= kLargest);
  if (x.empty()) x = {1, 10};
  if (y.empty()) y = {0, 1};

  y = WithZeroIfNear(Spread(y));
  const double step = NiceTicks(y.low, y.high, 6).step;
  // Round to full steps, so that the outermost grid lines have labels.
  y = {std::floor(y.low / step + 1e-9) * step, std::ceil(y.high / step - 1e-9) * step};
  layout.y_ticks = NiceTicks(y.low, y.high, 6);
  layout.y = {y.low, y.high, kTop + kPlotHeight, kTop};

  layout.left = kMargin + 10 + std::max(24.0, WidestOf(layout.y_ticks.labels));
  if (chart.log_x) {
    // A single x on a logarithmic axis gets a decade on both sides.
    if (x.high < x.low * 1.000001) x = {x.low / 10, x.high * 10};
    layout.x_ticks = NiceLogTicks(x.low, x.high, 8);
  } else {
    x = WithZeroIfNear(Spread(x));
    layout.x_ticks = NiceTicks(x.low, x.high, 8);
  }
  layout.x = {OnAxis(chart, x.low), OnAxis(chart, x.high), layout.left, layout.left + kPlotWidth};
}

Layout Measure(const LineChart& chart) {
  Layout layout;
  MeasureAxes(chart, layout);
  double beside = 0, entry = 0;
  for (const ReferenceLine& reference : chart.references)
    beside = std::max(beside, TextWidth(reference.label) + 6);
  for (const LineSeries& series : chart.series)
    entry = std::max(entry, kSwatch + 8 + TextWidth(series.name) + 14);
  const double wide = std::max(kPlotWidth, entry);
  layout.legend_column = entry;
  if (entry > 0) layout.legend_columns = std::max<std::size_t>(1, static_cast<std::size_t>(wide / entry));
  const std::size_t rows = (chart.series.size() + layout.legend_columns - 1) / layout.legend_columns;
  const double title = kMargin + 1.5 * TextWidth(chart.title);  // larger and bold
  layout.width = std::max(title, layout.left + std::max(kPlotWidth + beside, wide)) + kMargin;
  layout.height = kTop + kPlotHeight + kAxisHeight + kLegendRow * static_cast<double>(rows) + kMargin;
  return layout;
}

void DrawAxes(const LineChart& chart, const Layout& layout, SvgWriter& svg) {
  const double right = layout.left + kPlotWidth, bottom = kTop + kPlotHeight;
  svg.OpenGroup("axes");
  for (std::size_t i = 0; i < layout.y_ticks.at.size(); ++i) {
    const double y = layout.y(layout.y_ticks.at[i]);
    svg.Line({layout.left, y}, {right, y}, {kFaint, 1});
    svg.Text({layout.left - 8, y + kTextSize * 0.36}, layout.y_ticks.labels[i],
             {kTextSize, TextAnchor::kEnd});
  }
  for (std::size_t i = 0; i < layout.x_ticks.at.size(); ++i) {
    const double x = layout.x(OnAxis(chart, layout.x_ticks.at[i]));
    svg.Line({x, kTop}, {x, bottom + 4}, {kFaint, 1});
    svg.Text({x, bottom + 17}, layout.x_ticks.labels[i], {kTextSize, TextAnchor::kMiddle});
  }
  svg.Line({layout.left, bottom}, {right, bottom}, {kGrey, 1});
  svg.Line({layout.left, kTop}, {layout.left, bottom}, {kGrey, 1});
  svg.Text({layout.left + kPlotWidth / 2, bottom + 35}, chart.x_title, {12, TextAnchor::kMiddle});
  // Above its axis, because horizontal text is easier to read.
  svg.Text({kMargin, kTop - 14}, chart.y_title);
  if (!layout.has_points) {
    svg.Text({layout.left + kPlotWidth / 2, kTop + kPlotHeight / 2}, "no points to show",
             {12, TextAnchor::kMiddle, kReference});
  }
  svg.CloseGroup();
}

void DrawReferences(const LineChart& chart, const Layout& layout, SvgWriter& svg) {
  if (chart.references.empty()) return;
  svg.OpenGroup("references");
  std::vector<ReferenceLine> ordered = chart.references;
  std::ranges::stable_sort(ordered, std::greater(), &ReferenceLine::y);
  const double right = layout.left + kPlotWidth;
  double lowest = 0;  // Labels of close lines are shifted down until they are apart.
  for (const ReferenceLine& reference : ordered) {
    const double y = layout.y(reference.y);
    svg.Line({layout.left, y}, {right, y}, {kReference, 1.2, 5});
    lowest = std::max(y + kTextSize * 0.36, lowest);
    svg.Text({right + 6, lowest}, reference.label, {kTextSize, TextAnchor::kStart, kReference});
    lowest += kTextSize + 3;
  }
  svg.CloseGroup();
}

// All bands are drawn before all lines, so that no area covers a line.
void DrawBands(const LineChart& chart, const Layout& layout, SvgWriter& svg) {
  svg.OpenGroup("bands");
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const LineSeries& series = chart.series[s];
    std::vector<Point> outline, back;
    for (std::size_t i = 0; i < series.band.size(); ++i) {
      if (!HasPlace(chart, series.points[i])) continue;
      const double x = layout.x(OnAxis(chart, series.points[i].x));
      outline.push_back({x, layout.y(series.band[i].high)});
      back.push_back({x, layout.y(series.band[i].low)});
    }
    outline.insert(outline.end(), back.rbegin(), back.rend());
    svg.Path(outline, LineColour(s), {}, 0.18);
  }
  svg.CloseGroup();
}

void DrawLines(const LineChart& chart, const Layout& layout, SvgWriter& svg) {
  svg.OpenGroup("lines");
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const LineSeries& series = chart.series[s];
    std::vector<Point> places, shown;
    for (const Point& point : series.points) {
      if (!HasPlace(chart, point)) continue;
      places.push_back({layout.x(OnAxis(chart, point.x)), layout.y(point.y)});
      shown.push_back(point);
    }
    svg.Path(places, "none", {LineColour(s), 2});
    if (places.size() > kMostMarkedPoints) continue;
    for (std::size_t i = 0; i < places.size(); ++i) {
      svg.Circle(places[i], 2.8, LineColour(s), {},
                 fmt::format("{}: {:.6g}, {:.6g}", series.name, shown[i].x, shown[i].y));
    }
  }
  svg.CloseGroup();
}

void DrawLegend(const LineChart& chart, const Layout& layout, SvgWriter& svg) {
  svg.OpenGroup("legend");
  const double top = kTop + kPlotHeight + kAxisHeight + kLegendRow / 2;
  for (std::size_t s = 0; s < chart.series.size(); ++s) {
    const double x = layout.left + static_cast<double>(s % layout.legend_columns) * layout.legend_column;
    const double y = top + static_cast<double>(s / layout.legend_columns) * kLegendRow;
    if (!chart.series[s].band.empty())
      svg.Path({{x, y - 5}, {x + kSwatch, y - 5}, {x + kSwatch, y + 5}, {x, y + 5}}, LineColour(s), {}, 0.18);
    svg.Line({x, y}, {x + kSwatch, y}, {LineColour(s), 2});
    svg.Text({x + kSwatch + 8, y + kTextSize * 0.36}, chart.series[s].name, {kTextSize});
  }
  svg.CloseGroup();
}

}  // namespace

std::string DrawLineChart(const LineChart& chart) {
  const Layout layout = Measure(chart);
  SvgWriter svg(layout.width, layout.height);
  svg.Text({kMargin, 24}, chart.title, {.size = 15, .bold = true});
  DrawAxes(chart, layout, svg);
  DrawBands(chart, layout, svg);
  DrawReferences(chart, layout, svg);
  DrawLines(chart, layout, svg);
  DrawLegend(chart, layout, svg);
  return std::move(svg).Finish();
}

}  // namespace tributary::inline plot
