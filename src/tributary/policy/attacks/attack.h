#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tributary::inline policy {

// What hostile devices do. For simulated devices only: real ones have no such code.
enum class AttackKind {
  // A device alone changes the update that it sends:
  kSignFlip,  // -strength times the update
  kScale,     // strength times the update
  kNoise,     // uniform noise of at most strength times the root mean square of the update, instead of it
  // or learns from wrong labels:
  kLabelShift,  // each class is called by the number of the class `strength` after it
  // Devices that collude send the same, made of what each of them has learnt:
  kAlie,  // the mean minus strength standard deviations (a little is enough)
  kIpm,   // -strength times the mean (inner-product manipulation)
};

struct Attack {
  AttackKind kind = AttackKind::kSignFlip;
  double strength = 1;
  friend bool operator==(const Attack&, const Attack&) = default;
};

constexpr bool Colludes(AttackKind kind) { return kind == AttackKind::kAlie || kind == AttackKind::kIpm; }

// The first three kinds. Noise is drawn from a stream of this seed.
void ApplyAttack(const Attack& attack, std::uint64_t seed, std::span<float> update);

// kLabelShift, of labels from 0 to classes - 1.
void ShiftLabels(std::int64_t shift, int classes, std::span<std::int32_t> labels);

// What devices that collude send, element by element. There is at least one update, and all have the same size.
std::vector<float> CollusionUpdate(const Attack& attack, std::span<const std::vector<float>> learnt);

}  // namespace tributary::inline policy
