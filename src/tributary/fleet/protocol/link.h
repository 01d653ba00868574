#pragma once

#include <functional>

#include "tributary/base/clock.h"
#include "tributary/base/rng.h"
#include "tributary/base/status.h"
#include "tributary/base/units.h"
#include "tributary/fleet/messages.h"

namespace tributary::inline protocol {

// Rates, above 0, of an artificially slow link for tests.
struct LinkRate {
  BitsPerSecond up, down;
};

// Computes when bytes pass a link of some rate: excess bytes are delayed, an idle link accepts a burst.
class TokenBucket {
 public:
  // `rate` is above 0. A larger burst sends more without pacing after a pause.
  TokenBucket(BitsPerSecond rate, Bytes burst);

  // Queues these bytes and returns when the last of them has passed (≥ `now`). `now` must not decrease.
  TimePoint Pass(Bytes bytes, TimePoint now);

 private:
  Duration TimeOf(Bytes bytes) const;

  const BitsPerSecond rate_;
  const Duration burst_;  // as transmission time
  TimePoint passed_;      // when all queued bytes have passed, without bursts
};

// The time to send `up` bytes and receive `down` bytes, each at most kLargestProbe.
using LinkProbe = std::function<StatusOr<Duration>(std::size_t up, std::size_t down)>;

// Measures a link's round trip and rates by growing probes, so that slow links are not busy for long.
Status MeasureLink(const LinkProbe& probe, Ready& ready);

// Reconnection delays: exponential with jitter, so that not all devices of a fleet reconnect at once.
class Backoff {
 public:
  Backoff(Duration shortest, Duration longest, Rng rng) : shortest_(shortest), longest_(longest), rng_(rng) {}

  // Random between half of the full delay and all of it; the full delay grows by 1.6 each time.
  Duration Next();
  // After success: restarts at the shortest delay.
  void Reset() { failures_ = 0; }

 private:
  const Duration shortest_, longest_;
  Rng rng_;
  int failures_ = 0;
};

}  // namespace tributary::inline protocol
