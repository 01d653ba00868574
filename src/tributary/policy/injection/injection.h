#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/ids.h"

namespace tributary::inline policy {

// Devices whose streams hold different classes learn from each other's samples: in every round some share a part of
// their batch, and all others train on it in the next.
struct InjectionOptions {
  double devices = 0;  // of those asked, the share that is drawn anew each round to share; 0 turns it off
  double share = 0;    // of its batch that each of them shares

  bool on() const { return devices > 0; }
  friend bool operator==(const InjectionOptions&, const InjectionOptions&) = default;
};

// How many samples of its batch each device is to share in a round; `batches` has one for each that is asked. Those who
// share are round(devices · asked), but at least one, every set equally likely, keyed by (seed, round); each shares
// round(share · batch), the others nothing. Empty where injection is off.
std::vector<std::size_t> SharesOf(const InjectionOptions& options, std::span<const std::size_t> batches,
                                  std::uint64_t seed, RoundId round);

}  // namespace tributary::inline policy
