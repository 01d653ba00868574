#include "tributary/fleet/protocol/link.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/check.h"

namespace tributary::inline protocol {
namespace {

StatusOr<double> MeasureRate(const LinkProbe& probe, bool up, Duration round_trip) {
  constexpr Duration kLongEnough = std::chrono::milliseconds(40);
  for (std::size_t size = 32 << 10;; size *= 2) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Duration taken, probe(up ? size : 0, up ? 0 : size));
    if (taken < round_trip + kLongEnough && size < kLargestProbe) continue;
    // On a busy machine the pings may take as long as the probe; the rate is still finite.
    const double seconds = std::max({1e-6, ToSeconds(taken - round_trip), ToSeconds(taken) / 10});
    return 8 * static_cast<double>(size) / seconds;
  }
}

}  // namespace

TokenBucket::TokenBucket(BitsPerSecond rate, Bytes burst)
    : rate_(rate), burst_(TimeOf(burst)), passed_(TimePoint::min()) {
  TRIBUTARY_CHECK(rate.value > 0);
}

TimePoint TokenBucket::Pass(Bytes bytes, TimePoint now) {
  passed_ = std::max(passed_, now - burst_) + TimeOf(bytes);
  return std::max(now, passed_);
}

Duration TokenBucket::TimeOf(Bytes bytes) const {
  return FromSeconds(8 * static_cast<double>(bytes.value) / rate_.value);
}

Status MeasureLink(const LinkProbe& probe, Ready& ready) {
  Duration round_trip = Duration::max();
  for (int i = 0; i < 3; ++i) {
    TRIBUTARY_ASSIGN_OR_RETURN(const Duration taken, probe(0, 0));
    round_trip = std::min(round_trip, taken);
  }
  ready.round_trip_seconds = ToSeconds(round_trip);
  TRIBUTARY_ASSIGN_OR_RETURN(ready.up_bits_per_second, MeasureRate(probe, true, round_trip));
  TRIBUTARY_ASSIGN_OR_RETURN(ready.down_bits_per_second, MeasureRate(probe, false, round_trip));
  return OkStatus();
}

Duration Backoff::Next() {
  constexpr int kEnough = 60;  // 1.6⁶⁰ times any delay exceeds the longest
  const double full = std::min(ToSeconds(longest_), ToSeconds(shortest_) * std::pow(1.6, failures_));
  failures_ = std::min(failures_ + 1, kEnough);
  return FromSeconds(full * (0.5 + 0.5 * rng_.Uniform()));
}

}  // namespace tributary::inline protocol
