#pragma once

#include <cstdint>
#include <span>

namespace tributary::inline policy {

// What hostile devices do to the updates that they send. For simulated devices only: real ones have no such code.
enum class AttackKind {
  kSignFlip,  // -strength times the update
  kScale,     // strength times the update
  kNoise,     // uniform noise of at most strength times the root mean square of the update, instead of it
};

struct Attack {
  AttackKind kind = AttackKind::kSignFlip;
  double strength = 1;
  friend bool operator==(const Attack&, const Attack&) = default;
};

// Noise is drawn from a stream of this seed.
void ApplyAttack(const Attack& attack, std::uint64_t seed, std::span<float> update);

}  // namespace tributary::inline policy
