#pragma once

#include <compare>
#include <cstdint>

namespace tributary::inline base {

// Identities are types of their own, so that a device is never passed where a round is meant.
template <typename Tag>
struct Id {
  std::uint64_t value = 0;
  friend auto operator<=>(Id, Id) = default;
};

using DeviceId = Id<struct DeviceTag>;
using RoundId = Id<struct RoundTag>;
using WorkId = Id<struct WorkTag>;  // what one device was asked to do once

}  // namespace tributary::inline base
