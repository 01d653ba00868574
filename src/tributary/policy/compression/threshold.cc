#include "tributary/policy/compression/threshold.h"

#include <array>
#include <vector>

#include "tributary/base/check.h"
#include "tributary/policy/compression/magnitude.h"

namespace tributary {
namespace {

// One level of the search. Keys count if their bits above the level are `prefix`; the others go to a slot of their own,
// which is cheaper than a branch that cannot be foreseen.
struct Level {
  int shift;
  int bits;
};
constexpr Level kLevels[] = {{20, 11}, {10, 10}, {0, 10}};
constexpr std::size_t kSlots = 2049;
constexpr std::size_t kLanes =
    4;  // Neighbours often fall into the same slot: each has a table, so none waits.

using Counts = std::array<std::size_t, kSlots>;

void Count(std::span<const float> values, Level level, std::int32_t prefix, Counts& counts) {
  std::array<std::array<std::uint32_t, kSlots>, kLanes> lanes{};
  const int above = level.shift + level.bits;
  const std::uint32_t mask = (1U << level.bits) - 1;
  const auto slot = [&](float value) -> std::size_t {
    const auto key = static_cast<std::uint32_t>(MagnitudeKey(value));
    const bool counts_here = above >= 31 || (key >> above) == static_cast<std::uint32_t>(prefix);
    return counts_here ? (key >> level.shift) & mask : kSlots - 1;
  };
  std::size_t i = 0;
  for (; i + kLanes <= values.size(); i += kLanes) {
    for (std::size_t lane = 0; lane < kLanes; ++lane) ++lanes[lane][slot(values[i + lane])];
  }
  for (; i < values.size(); ++i) ++lanes[0][slot(values[i])];
  for (std::size_t s = 0; s < kSlots; ++s) {
    counts[s] = std::size_t{lanes[0][s]} + lanes[1][s] + lanes[2][s] + lanes[3][s];
  }
}

}  // namespace

Threshold FindThreshold(std::span<const std::span<const float>> parts, std::size_t k,
                        const ParallelFor& parallel) {
  TRIBUTARY_CHECK(k > 0);
  std::vector<Counts> counts(parts.size());
  Threshold found{0, k};
  for (const Level level : kLevels) {
    parallel(parts.size(), [&](std::size_t part) { Count(parts[part], level, found.key, counts[part]); });
    // Down from the largest, until the slot that holds the k-th.
    std::int32_t slot = 1 << level.bits;
    for (std::size_t here = 0;;) {
      TRIBUTARY_CHECK(--slot >= 0);
      here = 0;
      for (const Counts& part : counts) here += part[static_cast<std::size_t>(slot)];
      if (here >= found.ties) break;
      found.ties -= here;
    }
    found.key = (found.key << level.bits) | slot;
  }
  return found;
}

}  // namespace tributary
