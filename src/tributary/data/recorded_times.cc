#include "tributary/data/recorded_times.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary {
namespace {

using namespace std::chrono_literals;

constexpr Duration kLongestTime = 24h * 365 * 30;
constexpr Duration kShortest = 1ms;

}  // namespace

RecordedTimes::RecordedTimes(std::vector<Duration> times, double speed) : times_(std::move(times)) {
  TRIBUTARY_CHECK(!times_.empty() && speed > 0);
  TRIBUTARY_CHECK(times_.front() >= Duration(0) && std::is_sorted(times_.begin(), times_.end()));
  for (Duration& time : times_)
    time = FromSeconds(std::min(ToSeconds(time) / speed, ToSeconds(kLongestTime)));
  length_ = std::max(times_.back(), kShortest);
}

std::int64_t RecordedTimes::Arrived(TimePoint time) const {
  if (time < TimePoint(0)) return 0;
  const auto whole = time / length_;
  const auto rest = std::upper_bound(times_.begin(), times_.end(), time % length_) - times_.begin();
  return whole * static_cast<std::int64_t>(times_.size()) + rest;
}

std::optional<TimePoint> RecordedTimes::TimeOf(std::int64_t count) const {
  if (count <= 0) return TimePoint(0);
  const auto size = static_cast<std::int64_t>(times_.size());
  const std::int64_t whole = (count - 1) / size;
  if (whole >= kLongestTime / length_) return std::nullopt;
  const TimePoint time = whole * length_ + times_[static_cast<std::size_t>((count - 1) % size)];
  return time < kLongestTime ? std::optional(time) : std::nullopt;
}

}  // namespace tributary
