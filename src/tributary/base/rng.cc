#include "tributary/base/rng.h"

#include <bit>

#include "tributary/base/check.h"

namespace tributary::inline base {
namespace {

// SplitMix64: a 64-bit bijection whose outputs pass statistical tests of independence.
std::uint64_t Mix(std::uint64_t& state) {
  state += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}

// FNV-1a hash of a purpose's name.
std::uint64_t HashName(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

__extension__ using Wide = unsigned __int128;

}  // namespace

Rng::Rng(std::uint64_t seed) {
  for (std::uint64_t& word : state_) word = Mix(seed);
}

Rng Rng::ForStream(std::uint64_t seed, DeviceId device, std::string_view purpose, std::uint64_t step) {
  std::uint64_t key = seed;
  for (const std::uint64_t part : {device.value, HashName(purpose), step}) key = Mix(key) ^ part;
  return Rng(Mix(key));
}

std::uint64_t Rng::Next() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t shifted = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= shifted;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Rng::Uniform() { return static_cast<double>(Next() >> 11) * 0x1.0p-53; }

std::uint64_t Rng::Below(std::uint64_t bound) {
  TRIBUTARY_CHECK(bound > 0);
  // Lemire's method: the high half of a 64×64-bit product, rejecting the few low halves that cause bias.
  Wide product = static_cast<Wide>(Next()) * bound;
  if (static_cast<std::uint64_t>(product) < bound) {
    const std::uint64_t threshold = (0 - bound) % bound;
    while (static_cast<std::uint64_t>(product) < threshold) product = static_cast<Wide>(Next()) * bound;
  }
  return static_cast<std::uint64_t>(product >> 64);
}

}  // namespace tributary::inline base
