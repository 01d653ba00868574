#include "tributary/policy/compression/adaptive_rule.h"

#include <cmath>

namespace tributary {

double Energy::LostShare() const { return total > 0 ? std::abs(total - kept) / total : 0; }

bool SendsSparse(const AdaptiveState& state, double delta) {
  return state.steps == 0 || state.lost_share <= delta;
}

void Observe(AdaptiveState& state, bool sparse, Energy energy, double weight) {
  const double measured = energy.LostShare();
  state.lost_share = state.steps == 0 ? measured : weight * measured + (1 - weight) * state.lost_share;
  ++state.steps;
  if (sparse) ++state.sparse_steps;
}

}  // namespace tributary
