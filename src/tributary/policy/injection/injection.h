#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/ids.h"

namespace tributary::inline policy {

// Data injection, for devices whose streams hold different classes: in every round some devices share a part
// of their batch, and all others train on it in the next round.
struct InjectionOptions {
  double devices = 0;  // fraction of the participants that share, drawn every round; 0: off
  double share = 0;    // fraction of its batch that each of them shares

  bool on() const { return devices > 0; }
  friend bool operator==(const InjectionOptions&, const InjectionOptions&) = default;
};

// How many samples of its batch each participant shares in a round. round(devices · participants) devices
// share, at least one, every set equally likely, keyed by (seed, round). Each shares round(share · batch)
// samples. Empty if injection is off.
std::vector<std::size_t> SharesOf(const InjectionOptions& options, std::span<const std::size_t> batches,
                                  std::uint64_t seed, RoundId round);

}  // namespace tributary::inline policy
