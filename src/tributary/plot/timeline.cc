#include "tributary/plot/timeline.h"

#include <algorithm>

#include "tributary/plot/axes.h"
#include "tributary/plot/svg.h"

namespace tributary::inline plot {
namespace {

constexpr double kWidth = 1000, kLeft = 90, kRight = 20, kTop = 50;
constexpr double kLaneHeight = 26, kLaneGap = 4, kRowGap = 34, kAxisHeight = 46;
constexpr double kLetterWidth = 6.2;  // of the small text, roughly

double RowHeight(const Timeline::Row& row) {
  return static_cast<double>(row.lanes.size()) * (kLaneHeight + kLaneGap) + kRowGap;
}

void DrawLane(SvgWriter& svg, const Timeline::Lane& lane, double y, const LinearScale& x) {
  svg.Text({kLeft - 8, y + kLaneHeight / 2 + 4}, lane.name, {.anchor = TextAnchor::kEnd});
  svg.Rect({kLeft, y}, kWidth - kLeft - kRight, kLaneHeight, "#f2f2f2");
  for (const Timeline::Block& block : lane.blocks) {
    const double from = x(block.begin);
    const double width = std::max(0.5, x(block.end) - from);
    svg.Rect({from, y}, width, kLaneHeight, CategoryColour(block.colour),
             width > 4 ? Stroke{.colour = "#ffffff", .width = 0.6} : Stroke{}, block.label);
    if (static_cast<double>(block.label.size()) * kLetterWidth < width - 4) {
      svg.Text({from + width / 2, y + kLaneHeight / 2 + 4}, block.label,
               {.size = 11, .anchor = TextAnchor::kMiddle, .colour = TextColourOn(block.colour)});
    }
  }
}

}  // namespace

std::string DrawTimeline(const Timeline& timeline) {
  double height = kTop + kAxisHeight;
  double latest = 0;
  for (const Timeline::Row& row : timeline.rows) {
    height += RowHeight(row);
    latest = std::max(latest, row.end);
  }
  SvgWriter svg(kWidth, height);
  svg.Text({kLeft, 26}, timeline.title, {.size = 16, .bold = true});
  const LinearScale x{0, latest > 0 ? latest : 1, kLeft, kWidth - kRight};
  const Ticks ticks = NiceTicks(0, x.high, 8);
  for (const double at : ticks.at)
    svg.Line({x(at), kTop - 8}, {x(at), height - kAxisHeight}, {.colour = "#dddddd"});
  double y = kTop;
  for (const Timeline::Row& row : timeline.rows) {
    svg.OpenGroup(row.title);
    svg.Text({kLeft, y + 10}, row.title, {.size = 13, .bold = true});
    y += 18;
    const double top = y;
    for (const Timeline::Lane& lane : row.lanes) {
      DrawLane(svg, lane, y, x);
      y += kLaneHeight + kLaneGap;
    }
    svg.Line({x(row.end), top - 4}, {x(row.end), y}, {.colour = kDark, .width = 1.5, .dash = 4});
    svg.CloseGroup();
    y += kRowGap - 18;
  }
  for (std::size_t i = 0; i < ticks.at.size(); ++i) {
    svg.Text({x(ticks.at[i]), height - kAxisHeight + 16}, ticks.labels[i],
             {.size = 11, .anchor = TextAnchor::kMiddle});
  }
  svg.Text({kWidth - kRight, height - 10}, timeline.unit, {.anchor = TextAnchor::kEnd});
  return std::move(svg).Finish();
}

}  // namespace tributary::inline plot
