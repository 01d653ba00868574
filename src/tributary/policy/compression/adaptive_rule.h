#pragma once

#include <cstdint>

namespace tributary {

// How much of a gradient its largest elements carry, in squares.
struct Energy {
  double total = 0;  // of all elements
  double kept = 0;   // of those that top-k keeps

  // The share that top-k leaves behind; zero of a gradient that is zero.
  double LostShare() const;
};

// What the rule remembers from step to step: plain data, for a checkpoint.
struct AdaptiveState {
  std::uint64_t steps = 0;         // measured so far
  std::uint64_t sparse_steps = 0;  // of them, those that sent the largest elements only
  double lost_share = 0;           // smoothed; means nothing before the first step
  friend bool operator==(const AdaptiveState&, const AdaptiveState&) = default;
};

// Whether a step sends the largest elements only, or all: the largest, if what that has lost so far, smoothed over
// steps, is at most `delta`. The step's own gradient has no say, so it is known before the backward pass begins and
// units can be sent as they become ready. The first step, of which nothing is known, sends the largest: a device whose
// whole gradient always comes too late would else never find out that less is enough.
bool SendsSparse(const AdaptiveState& state, double delta);

// After a step, sparse or not: lost_share becomes weight · measured + (1 − weight) · lost_share; the first
// measurement stands as it is.
void Observe(AdaptiveState& state, bool sparse, Energy energy, double weight);

}  // namespace tributary
