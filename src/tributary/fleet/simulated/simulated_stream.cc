#include "tributary/fleet/simulated/simulated_stream.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline simulated {

std::int64_t SimulatedStream::Take(std::int64_t count, TimePoint now) {
  const std::int64_t arrived = arrivals_.Arrived(now);
  TRIBUTARY_CHECK(count >= 0 && arrived - next_ >= count);
  capacity_ = count;
  if (policy_ == BufferPolicy::kTruncate) {
    dropped_ += arrived - count - next_;
    next_ = arrived - count;
  }
  const std::int64_t first = next_;
  next_ += count;
  return first;
}

void SimulatedStream::Observe(TimePoint now) {
  if (now <= seen_at_) return;
  const std::int64_t arrived = arrivals_.Arrived(now);
  rate_.Observe(arrived - seen_, now - seen_at_);
  seen_ = arrived;
  seen_at_ = now;
}

std::int64_t SimulatedStream::Buffered(TimePoint now) const {
  const std::int64_t unused = arrivals_.Arrived(now) - next_;
  return policy_ == BufferPolicy::kTruncate && capacity_ > 0 ? std::min(unused, capacity_) : unused;
}

}  // namespace tributary::inline simulated
