#pragma once

#include "tributary/base/clock.h"
#include "tributary/base/units.h"

namespace tributary::inline protocol {

// Paces bytes to a rate, as a slow link would: what comes faster waits its turn, and a link that was idle lets a burst
// through at once. It only says when; waiting is the caller's.
class TokenBucket {
 public:
  // The rate must be above 0. A larger burst lets more through unpaced after a pause.
  TokenBucket(BitsPerSecond rate, Bytes burst);

  // Books these bytes, after those booked before, and tells when the last of them has passed: `now` or later. Time must
  // not go backwards from call to call.
  TimePoint Pass(Bytes bytes, TimePoint now);

 private:
  Duration TimeOf(Bytes bytes) const;

  const BitsPerSecond rate_;
  const Duration burst_;  // as the time that it takes
  TimePoint passed_;      // when everything booked has passed, without any burst
};

}  // namespace tributary::inline protocol
