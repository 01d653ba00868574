#include "tributary/fleet/protocol/token_bucket.h"

#include <algorithm>

#include "tributary/base/check.h"

namespace tributary::inline protocol {

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

}  // namespace tributary::inline protocol
