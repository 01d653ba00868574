#include "tributary/fleet/protocol/segments.h"

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
  // A piece may cross the plan's borders.
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
    completed = completed || arrival.missing == 0;
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

SegmentSender::SegmentSender(TransferPlan plan, Send send)
    : plan_(std::move(plan)),
      send_(std::move(send)),
      segment_of_unit_(plan_.empty() ? 0 : plan_.back().last + 1, 0) {
  for (std::size_t i = 0; i < plan_.size(); ++i) {
    missing_.push_back(plan_[i].last - plan_[i].first + 1);
    for (std::size_t unit = plan_[i].first; unit <= plan_[i].last; ++unit) segment_of_unit_[unit] = i;
  }
  thread_ = std::thread([this] { Run(); });
}

SegmentSender::~SegmentSender() {
  {
    const MutexLock lock(mutex_);
    given_up_ = true;
    changed_.NotifyAll();
  }
  if (thread_.joinable()) thread_.join();
}

void SegmentSender::Ready(const Update& update, std::size_t unit) {
  const MutexLock lock(mutex_);
  update_ = update;
  std::size_t& missing = missing_[segment_of_unit_[unit]];
  TRIBUTARY_CHECK(missing > 0);
  if (--missing == 0) changed_.NotifyAll();
}

Status SegmentSender::Finish() {
  thread_.join();
  const MutexLock lock(mutex_);
  return status_;
}

void SegmentSender::Run() {
  for (std::size_t i = plan_.size(); i-- > 0;) {
    Update update;
    {
      MutexLock lock(mutex_);
      queued_.push_back(missing_[i] == 0);
      while (missing_[i] > 0 && !given_up_) changed_.Wait(lock);
      if (given_up_) return;
      update = update_;
    }
    Status status = send_(plan_[i], update);
    if (!status.ok()) {
      const MutexLock lock(mutex_);
      status_ = std::move(status);
      return;
    }
  }
}

}  // namespace tributary::inline protocol
