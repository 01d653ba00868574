#pragma once

#include <functional>

#include "tributary/base/clock.h"
#include "tributary/base/rng.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/fleet/messages.h"

namespace tributary::inline protocol {

// A slower link than there is, for testing; both are above 0.
struct LinkRate {
  BitsPerSecond up, down;
};

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

// The time to send `up` bytes and receive `down` bytes, each at most kLargestProbe.
using LinkProbe = std::function<StatusOr<Duration>(std::size_t up, std::size_t down)>;

// Fills in the round trip and both rates of a device's link, by larger and larger probes until one takes long enough to
// tell; so a slow link is not kept busy for long.
Status MeasureLink(const LinkProbe& probe, Ready& ready);

// How long to wait before dialling again: longer after each failure, up to a limit, and never the same for two devices,
// so that a fleet whose coordinator comes back does not fall upon it all at once.
class Backoff {
 public:
  Backoff(Duration shortest, Duration longest, Rng rng) : shortest_(shortest), longest_(longest), rng_(rng) {}

  // Between half of the full wait and all of it; the full wait grows by 1.6 each time.
  Duration Next();
  // It has worked: the next failure starts from the shortest again.
  void Reset() { failures_ = 0; }

 private:
  const Duration shortest_, longest_;
  Rng rng_;
  int failures_ = 0;
};

}  // namespace tributary::inline protocol
