#include "tributary/telemetry/round_tally.h"

#include <algorithm>
#include <utility>

#include "tributary/base/saturating.h"

namespace tributary {

void RoundTally::Add(const DeviceFinished& device) {
  ++sums_.participants;
  sums_.waited = SaturatingAdd(sums_.waited, device.wait);
  if (device.outcome == Outcome::kApplied) {
    sums_.samples = SaturatingAdd(sums_.samples, device.samples);
  }
  if (device.kept) {
    kept_ += *device.kept;
    ++chose_;
  }
}

RoundShares RoundTally::Finish(const RoundFinished& round) {
  RoundShares result = std::exchange(sums_, {});
  result.present =
      Duration(SaturatingMultiply(round.duration.count(), static_cast<Duration::rep>(result.participants)));
  if (result.present > Duration(0)) {
    // Events may come from a log that anybody could have written.
    result.waiting = std::clamp(ToSeconds(result.waited) / ToSeconds(result.present), 0.0, 1.0);
  }
  if (chose_ > 0) result.kept = kept_ / static_cast<double>(chose_);
  kept_ = 0;
  chose_ = 0;
  return result;
}

}  // namespace tributary
