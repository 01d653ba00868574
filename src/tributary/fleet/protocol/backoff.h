#pragma once

#include "tributary/base/clock.h"
#include "tributary/base/rng.h"

namespace tributary::inline protocol {

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
