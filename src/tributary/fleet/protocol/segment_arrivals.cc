#include "tributary/fleet/protocol/segment_arrivals.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline protocol {

SegmentArrivals::SegmentArrivals(std::span<const Segment> parameters, std::span<const Segment> statistics,
                                 std::span<const LayerRun> plan)
    : arrivals_(plan.size()), segment_of_unit_(parameters.size(), 0) {
  for (std::size_t i = 0; i < plan.size(); ++i) {
    const auto [first, last] = plan[i];
    TRIBUTARY_CHECK(last < parameters.size() && statistics.size() == parameters.size());
    for (std::size_t unit = first; unit <= last; ++unit) {
      segment_of_unit_[unit] = i;
      arrivals_[i].floats += parameters[unit].count + statistics[unit].count;
    }
    arrivals_[i].missing = arrivals_[i].floats;
    if (arrivals_[i].missing > 0) ++incomplete_;
    parameter_ends_.push_back(parameters[last].end());
    statistic_ends_.push_back(statistics[last].end());
  }
}

bool SegmentArrivals::Take(UpdatePart part, std::size_t offset, std::size_t count, std::size_t bytes,
                           TimePoint now) {
  const auto& ends = part == UpdatePart::kParameters ? parameter_ends_ : statistic_ends_;
  if (!first_) first_ = now;
  bool completed = false;
  const std::size_t all = count;
  // A piece need not keep to the plan's borders.
  for (auto i = static_cast<std::size_t>(std::ranges::upper_bound(ends, offset) - ends.begin()); count > 0;
       ++i) {
    TRIBUTARY_CHECK(i < ends.size());
    const std::size_t here = std::min(count, ends[i] - offset);
    if (here == 0) continue;
    Arrival& arrival = arrivals_[i];
    TRIBUTARY_CHECK(here <= arrival.missing);
    if (arrival.missing == arrival.floats) {
      arrival.first = now;
      arrival.first_bytes = bytes * here / all;
    }
    arrival.bytes += bytes * here / all;
    arrival.missing -= here;
    arrival.last = now;
    if (arrival.missing == 0) {
      --incomplete_;
      completed = true;
    }
    offset += here;
    count -= here;
  }
  return completed;
}

std::optional<TransferPlan> PlanOfEnds(std::span<const std::uint32_t> ends, std::size_t units) {
  if (units == 0) return ends.empty() ? std::optional(TransferPlan{}) : std::nullopt;
  if (ends.empty()) return TransferPlan{{0, units - 1}};
  if (ends.back() != units - 1) return std::nullopt;
  TransferPlan plan;
  std::size_t first = 0;
  for (const std::uint32_t last : ends) {
    plan.push_back({first, last});
    first = std::size_t{last} + 1;
  }
  return plan;
}

std::vector<std::uint32_t> EndsOf(std::span<const LayerRun> plan) {
  std::vector<std::uint32_t> ends;
  for (const LayerRun& run : plan) ends.push_back(static_cast<std::uint32_t>(run.last));
  return ends;
}

}  // namespace tributary::inline protocol
