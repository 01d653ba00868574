#include "tributary/plot/shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "tributary/base/check.h"
#include "tributary/plot/axes.h"

namespace tributary::inline plot {
namespace {

constexpr double kField = 220, kGap = 24, kTop = 44, kHead = 36, kBar = 14, kBarGap = 8, kMargin = 20,
                 kLegend = 30;
constexpr double kTextSize = 11, kEntry = 48;
constexpr const char* kPale = "#e2e2e2";

// The common scale of all panels, with a small margin.
LinearScale Fit(AxisRange range, double to_low, double to_high) {
  if (range.empty()) range = {0, 1};
  const double room = range.high > range.low ? 0.04 * (range.high - range.low) : 0.5;
  return {range.low - room, range.high + room, to_low, to_high};
}

std::int64_t Total(const std::vector<std::int64_t>& counts) {
  return std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
}

class ShardsPicture {
 public:
  explicit ShardsPicture(const ShardsChart& chart) : chart_(chart) {
    AxisRange x, y;
    const auto include = [&](const std::vector<ShardsChart::Sample>& samples) {
      for (const auto& sample : samples) {
        x.Include(sample.place.x);
        y.Include(sample.place.y);
      }
    };
    include(chart.backdrop);
    for (const auto& shard : chart.shards) {
      TRIBUTARY_CHECK(shard.counts.size() == chart.shards.front().counts.size());
      include(shard.samples);
      most_ = std::max(most_, Total(shard.counts));
    }
    x_ = Fit(x, 0, kField);
    y_ = Fit(y, kField, 0);
    columns_ = std::min<std::size_t>(chart.shards.size(), 4);
    rows_ = (chart.shards.size() + columns_ - 1) / columns_;
    classes_ = chart.shards.front().counts.size();
  }

  std::string Draw() const {
    const double width = 2 * kMargin + static_cast<double>(columns_) * (kField + kGap) - kGap;
    const double fields = static_cast<double>(rows_) * FieldHeight();
    const auto per_row =
        std::max<std::size_t>(1, static_cast<std::size_t>((width - 2 * kMargin - kEntry) / kEntry));
    const auto legend_rows = static_cast<double>((classes_ + per_row - 1) / per_row);
    SvgWriter svg(std::max(width, 420.0), kTop + fields + kLegend + 18 * legend_rows);
    svg.Text({kMargin, 24}, chart_.title, {.size = 15, .bold = true});
    for (std::size_t j = 0; j < chart_.shards.size(); ++j) {
      const Point corner{kMargin + static_cast<double>(j % columns_) * (kField + kGap),
                         kTop + static_cast<double>(j / columns_) * FieldHeight()};
      DrawShard(svg, j, corner);
    }
    DrawLegend(svg, kTop + fields + 12, per_row);
    return std::move(svg).Finish();
  }

 private:
  static double FieldHeight() { return kHead + kBar + kBarGap + kField + kGap; }

  void DrawShard(SvgWriter& svg, std::size_t worker, Point corner) const {
    const ShardsChart::Shard& shard = chart_.shards[worker];
    svg.OpenGroup("worker-" + std::to_string(worker));
    svg.Text({corner.x, corner.y + 12}, "worker " + std::to_string(worker), {.bold = true});
    svg.Text({corner.x, corner.y + 27}, shard.caption, {kTextSize});
    DrawBar(svg, worker, {corner.x, corner.y + kHead});
    const Point field{corner.x, corner.y + kHead + kBar + kBarGap};
    svg.Rect(field, kField, kField, "none", {kGrey, 1});
    const auto place = [&](const ShardsChart::Sample& sample) {
      return Point{field.x + x_(sample.place.x), field.y + y_(sample.place.y)};
    };
    for (const auto& sample : chart_.backdrop) svg.Circle(place(sample), 1.6, kPale);
    for (const auto& sample : shard.samples) svg.Circle(place(sample), 1.6, CategoryColour(sample.label));
    svg.CloseGroup();
  }

  void DrawBar(SvgWriter& svg, std::size_t worker, Point corner) const {
    const LinearScale scale{0, static_cast<double>(most_), 0, kField};
    std::int64_t before = 0;
    const auto& counts = chart_.shards[worker].counts;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      if (counts[c] == 0) continue;
      const double left = scale(static_cast<double>(before));
      before += counts[c];
      svg.Rect({corner.x + left, corner.y}, scale(static_cast<double>(before)) - left, kBar,
               CategoryColour(c), {}, fmt::format("worker {}, class {}: {}", worker, c, counts[c]));
    }
  }

  void DrawLegend(SvgWriter& svg, double top, std::size_t per_row) const {
    svg.OpenGroup("legend");
    svg.Text({kMargin, top + 10}, "class", {kTextSize});
    for (std::size_t c = 0; c < classes_; ++c) {
      const Point at{kMargin + kEntry * static_cast<double>(c % per_row + 1),
                     top + 18 * static_cast<double>(c / per_row)};
      svg.Rect(at, 12, 12, CategoryColour(c));
      svg.Text({at.x + 16, at.y + 10}, std::to_string(c), {kTextSize});
    }
    svg.CloseGroup();
  }

  const ShardsChart& chart_;
  LinearScale x_, y_;
  std::int64_t most_ = 1;
  std::size_t columns_ = 1, rows_ = 1, classes_ = 0;
};

}  // namespace

std::string DrawShards(const ShardsChart& chart) {
  TRIBUTARY_CHECK(!chart.shards.empty());
  return ShardsPicture(chart).Draw();
}

}  // namespace tributary::inline plot
