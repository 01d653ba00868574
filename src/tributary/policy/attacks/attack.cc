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

void ShiftLabels(std::int64_t shift, int classes, std::span<std::int32_t> labels) {
  for (std::int32_t& label : labels) label = static_cast<std::int32_t>((label + shift) % classes);
}

std::vector<float> CollusionUpdate(const Attack& attack, std::span<const std::vector<float>> learnt) {
  const auto count = static_cast<double>(learnt.size());
  std::vector<float> sent(learnt.front().size());
  for (std::size_t k = 0; k < sent.size(); ++k) {
    double mean = 0, squares = 0;
    for (const std::vector<float>& update : learnt) mean += static_cast<double>(update[k]) / count;
    for (const std::vector<float>& update : learnt) {
      const double difference = static_cast<double>(update[k]) - mean;
      squares += difference * difference / count;
    }
    sent[k] =
        static_cast<float>(attack.kind == AttackKind::kIpm ? -attack.strength * mean
                                                           : mean - attack.strength * std::sqrt(squares));
  }
  return sent;
}

}  // namespace tributary::inline policy
