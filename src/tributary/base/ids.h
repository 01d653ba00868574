#pragma once

#include <compare>
#include <cstdint>

namespace tributary::inline base {

// Identifiers have distinct types, so that a device cannot be passed where a round is expected.
template <typename Tag>
struct Id {
  std::uint64_t value = 0;
  friend auto operator<=>(Id, Id) = default;
};

using DeviceId = Id<struct DeviceTag>;
using RoundId = Id<struct RoundTag>;
using WorkId = Id<struct WorkTag>;  // one task given to one device

}  // namespace tributary::inline base
