#include "tributary/policy/attacks/attack.h"

#include <cmath>

#include "tributary/base/distributions.h"

namespace tributary::inline policy {

void ApplyAttack(const Attack& attack, std::uint64_t seed, std::span<float> update) {
  if (attack.kind != AttackKind::kNoise) {
    const double factor = attack.kind == AttackKind::kScale ? attack.strength : -attack.strength;
    for (float& value : update) value = static_cast<float>(factor * static_cast<double>(value));
    return;
  }
  double squares = 0;
  for (const float value : update) squares += static_cast<double>(value) * static_cast<double>(value);
  const double bound =
      update.empty() ? 0 : attack.strength * std::sqrt(squares / static_cast<double>(update.size()));
  Rng rng(seed);
  for (float& value : update) value = static_cast<float>(Uniform(rng, -bound, bound));
}

}  // namespace tributary::inline policy
