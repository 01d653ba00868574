#pragma once

#include <cstdint>
#include <string_view>

#include "tributary/base/ids.h"

namespace tributary::inline base {

// A random number generator with the same output everywhere: xoshiro256++ seeded through SplitMix64.
// Distributions are in distributions.h; the standard library's differ between implementations.
//
// Independent streams are derived by key, not by drawing: what one device or purpose consumes never shifts
// another's. Not cryptographically secure.
class Rng {
 public:
  explicit Rng(std::uint64_t seed);

  // The stream for one purpose ("shuffle", "augment", …) of one device at one step of a run with this seed.
  static Rng ForStream(std::uint64_t seed, DeviceId device, std::string_view purpose, std::uint64_t step = 0);

  // 64 random bits.
  std::uint64_t Next();
  // Uniform in [0, 1), with 53 random bits.
  double Uniform();
  // Uniform in {0, …, bound − 1}, without bias. `bound` must be positive.
  std::uint64_t Below(std::uint64_t bound);

 private:
  std::uint64_t state_[4];
};

}  // namespace tributary::inline base
