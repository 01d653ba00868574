#include "tributary/plot/class_counts.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/check.h"
#include "tributary/plot/axes.h"
#include "tributary/plot/svg.h"

namespace tributary::inline plot {
namespace {

constexpr double kPlotWidth = 640, kLeft = 64, kTop = 44, kRight = 24, kBottom = 48;
constexpr double kTextSize = 11, kLegendRow = 17;
constexpr std::size_t kLegendRowsAtLeast = 10;

struct Layout {
  double row = 0;          // distance between bars
  double bar = 0;          // height of a bar
  double plot_height = 0;  // all rows
  std::size_t legend_rows = 0;
  double legend_column = 0;  // width of a column of the legend
  double width = 0, height = 0;
};

std::string ClassName(const ClassCounts& chart, std::size_t c) {
  return chart.class_names.empty() ? std::to_string(c) : chart.class_names[c];
}

// With the class number, which the segments show.
std::string LegendEntry(const ClassCounts& chart, std::size_t c) {
  return chart.class_names.empty() ? std::to_string(c) : std::to_string(c) + "  " + chart.class_names[c];
}

Layout Measure(const ClassCounts& chart, std::size_t classes) {
  Layout layout;
  const auto devices = static_cast<double>(chart.counts.size());
  // Few devices get wide bars; many share the height of a page, down to a visible minimum.
  layout.row = std::clamp(560 / devices, 5.0, 26.0);
  layout.bar = layout.row >= 10 ? layout.row - 4 : layout.row - 1;
  layout.plot_height = layout.row * devices;

  const auto rows_in_height = static_cast<std::size_t>(layout.plot_height / kLegendRow);
  layout.legend_rows = std::min(classes, std::max(rows_in_height, kLegendRowsAtLeast));
  std::size_t longest = 1;
  for (std::size_t c = 0; c < classes; ++c) longest = std::max(longest, LegendEntry(chart, c).size());
  // Text widths are unknown; this is a generous estimate for a sans-serif font.
  layout.legend_column = 30 + 0.62 * kTextSize * static_cast<double>(std::min<std::size_t>(longest, 40));
  const std::size_t columns = (classes + layout.legend_rows - 1) / layout.legend_rows;
  layout.width = kLeft + kPlotWidth + kRight + static_cast<double>(columns) * layout.legend_column + 16;
  const double legend_height = kLegendRow * (static_cast<double>(layout.legend_rows) + 1);
  layout.height = kTop + std::max(layout.plot_height + kBottom, legend_height + 16);
  return layout;
}

void DrawAxes(const ClassCounts& chart, const Layout& layout, const LinearScale& scale, SvgWriter& svg) {
  const double bottom = kTop + layout.plot_height;
  svg.OpenGroup("axes");
  const Ticks ticks = NiceCountTicks(scale.high, 6);
  for (std::size_t i = 0; i < ticks.at.size(); ++i) {
    const double x = scale(ticks.at[i]);
    svg.Line({x, kTop}, {x, bottom + 4}, {kFaint, 1});
    svg.Text({x, bottom + 17}, ticks.labels[i], {kTextSize, TextAnchor::kMiddle});
  }
  svg.Text({kLeft + kPlotWidth / 2, bottom + 36}, "samples", {12, TextAnchor::kMiddle});

  // As many device labels as fit.
  const auto devices = static_cast<double>(chart.counts.size());
  const double step = NiceCountTicks(devices, static_cast<int>(std::max(1.0, layout.plot_height / 20))).step;
  for (double device = 0; device < devices; device += step) {
    const double y = kTop + (device + 0.5) * layout.row + kTextSize * 0.36;
    svg.Text({kLeft - 8, y}, std::to_string(std::llround(device)), {kTextSize, TextAnchor::kEnd});
  }
  svg.Text({kLeft - 8, kTop - 8}, "device", {12, TextAnchor::kEnd});
  svg.CloseGroup();
}

void DrawBars(const ClassCounts& chart, const Layout& layout, const LinearScale& scale, SvgWriter& svg) {
  svg.OpenGroup("bars");
  for (std::size_t device = 0; device < chart.counts.size(); ++device) {
    const double y = kTop + static_cast<double>(device) * layout.row + (layout.row - layout.bar) / 2;
    std::int64_t before = 0;
    for (std::size_t c = 0; c < chart.counts[device].size(); ++c) {
      const std::int64_t count = chart.counts[device][c];
      if (count == 0) continue;
      const double left = scale(static_cast<double>(before));
      const double width = scale(static_cast<double>(before + count)) - left;
      // A hairline between segments, unless it would hide them.
      const double gap = width > 3 ? 0.6 : 0;
      svg.Rect({left, y}, width - gap, layout.bar, CategoryColour(c), {},
               fmt::format("device {}, class {}: {}", device, ClassName(chart, c), count));
      const std::string number = std::to_string(c);
      if (layout.bar >= 11 && width >= 6.5 * static_cast<double>(number.size()) + 5) {
        svg.Text({left + (width - gap) / 2, y + layout.bar / 2 + 3.6}, number,
                 {10, TextAnchor::kMiddle, TextColourOn(c)});
      }
      before += count;
    }
  }
  svg.Line({kLeft, kTop}, {kLeft, kTop + layout.plot_height}, {kGrey, 1});
  svg.CloseGroup();
}

void DrawLegend(const ClassCounts& chart, std::size_t classes, const Layout& layout, SvgWriter& svg) {
  svg.OpenGroup("legend");
  const double left = kLeft + kPlotWidth + kRight;
  svg.Text({left, kTop - 8}, "class");
  for (std::size_t c = 0; c < classes; ++c) {
    const double x = left + static_cast<double>(c / layout.legend_rows) * layout.legend_column;
    const double y = kTop + static_cast<double>(c % layout.legend_rows) * kLegendRow;
    svg.Rect({x, y}, 12, 12, CategoryColour(c));
    svg.Text({x + 17, y + 10}, LegendEntry(chart, c), {kTextSize});
  }
  svg.CloseGroup();
}

}  // namespace

std::string DrawClassCounts(const ClassCounts& chart) {
  TRIBUTARY_CHECK(!chart.counts.empty());
  const std::size_t classes = chart.counts.front().size();
  TRIBUTARY_CHECK(classes > 0 && (chart.class_names.empty() || chart.class_names.size() == classes));
  std::int64_t most = 1;  // At least 1, so that a chart of empty devices has an axis.
  for (const auto& device : chart.counts) {
    TRIBUTARY_CHECK(device.size() == classes);
    for (const std::int64_t count : device) TRIBUTARY_CHECK(count >= 0);
    most = std::max(most, std::accumulate(device.begin(), device.end(), std::int64_t{0}));
  }
  const Layout layout = Measure(chart, classes);
  const LinearScale scale{0, static_cast<double>(most), kLeft, kLeft + kPlotWidth};
  SvgWriter svg(layout.width, layout.height);
  svg.Text({kLeft, 20}, chart.title, {.size = 15, .bold = true});
  DrawAxes(chart, layout, scale, svg);
  DrawBars(chart, layout, scale, svg);
  DrawLegend(chart, classes, layout, svg);
  return std::move(svg).Finish();
}

}  // namespace tributary::inline plot
