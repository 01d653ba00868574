#include "tributary/policy/participation/participation.h"

#include <algorithm>
#include <span>

#include "tributary/base/distributions.h"

namespace tributary::inline policy {

std::vector<DeviceId> ChooseParticipants(const std::vector<DeviceId>& devices, std::size_t count,
                                         std::uint64_t seed, RoundId round) {
  std::vector<DeviceId> chosen = devices;
  if (count < chosen.size()) {
    Rng rng = Rng::ForStream(seed, DeviceId{0}, "participation", round.value);
    Shuffle(rng, std::span(chosen));
    chosen.resize(count);
  }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

}  // namespace tributary::inline policy
