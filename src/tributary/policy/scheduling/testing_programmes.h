#pragma once

#include <algorithm>
#include <limits>
#include <vector>

#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline policy {

// The published dynamic programmes, written as they stand: oracles for tests and the baseline of bench/scheduling.

// F[n][m] = min over k < m of max(F[n−1][k], n·Δt + P[m]) + C[m] − C[k]: with n segments over the first m layers. O(L³).
inline double PublishedForward(const PassProfile& profile) {
  const std::size_t layers = profile.transfer.size();
  std::vector<double> arrived(layers + 1), computed(layers + 1);
  for (std::size_t i = 0; i < layers; ++i) {
    arrived[i + 1] = arrived[i] + profile.transfer[i];
    computed[i + 1] = computed[i] + profile.compute[i];
  }
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> before(layers + 1, kNever), now(layers + 1, kNever);
  before[0] = 0;
  double best = kNever;
  for (std::size_t n = 1; n <= layers; ++n) {
    std::fill(now.begin(), now.end(), kNever);
    for (std::size_t m = n; m <= layers; ++m) {
      const double link = static_cast<double>(n) * profile.setup + arrived[m];
      for (std::size_t k = n - 1; k < m; ++k) {
        now[m] = std::min(now[m], std::max(before[k], link) + computed[m] - computed[k]);
      }
    }
    best = std::min(best, now[layers]);
    std::swap(before, now);
  }
  return best;
}

// T[m] = min over k < m of max(T[k], Bc[m]) + Δt + G[m] − G[k], layers in backward order. O(L²).
inline double PublishedBackward(const PassProfile& profile) {
  const std::size_t layers = profile.transfer.size();
  std::vector<double> pushed(layers + 1), computed(layers + 1), finish(layers + 1, 0);
  for (std::size_t i = 0; i < layers; ++i) {
    pushed[i + 1] = pushed[i] + profile.transfer[layers - 1 - i];
    computed[i + 1] = computed[i] + profile.compute[layers - 1 - i];
  }
  for (std::size_t m = 1; m <= layers; ++m) {
    finish[m] = std::numeric_limits<double>::infinity();
    for (std::size_t k = 0; k < m; ++k) {
      finish[m] =
          std::min(finish[m], std::max(finish[k], computed[m]) + profile.setup + pushed[m] - pushed[k]);
    }
  }
  return finish[layers];
}

}  // namespace tributary::inline policy
