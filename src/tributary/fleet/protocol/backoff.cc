#include "tributary/fleet/protocol/backoff.h"

#include <algorithm>
#include <cmath>

namespace tributary::inline protocol {

Duration Backoff::Next() {
  constexpr int kEnough = 60;  // 1.6⁶⁰ of anything is longer than the longest
  const double full = std::min(ToSeconds(longest_), ToSeconds(shortest_) * std::pow(1.6, failures_));
  failures_ = std::min(failures_ + 1, kEnough);
  return FromSeconds(full * (0.5 + 0.5 * rng_.Uniform()));
}

}  // namespace tributary::inline protocol
