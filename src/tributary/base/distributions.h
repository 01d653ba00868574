#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "tributary/base/rng.h"

namespace tributary::inline base {

// Distributions over an Rng, the same to the bit on every machine. All are exact (no normal approximations).
// Arguments are checked: passing a negative shape or a draw of more than there is, is a bug of the caller.

double Uniform(Rng& rng, double low, double high);
double Normal(Rng& rng, double mean = 0, double deviation = 1);
// Shape > 0, scale 1.
double Gamma(Rng& rng, double shape);
// Number of successes in `trials` with probability `p` each.
std::int64_t Binomial(Rng& rng, std::int64_t trials, double p);

// One point of the simplex. Computed in logarithms, so that concentrations far below one (nearly all mass on one
// entry) do not underflow to 0/0.
std::vector<double> Dirichlet(Rng& rng, std::span<const double> concentrations);

// How many of `trials` fall into each class; `weights` need not sum to one, but must be ≥ 0 and not all zero.
std::vector<std::int64_t> Multinomial(Rng& rng, std::int64_t trials, std::span<const double> weights);

// How many of each kind are among `draws` taken without replacement from an urn with counts[i] of kind i.
// O(kinds + draws·log kinds), integer arithmetic only.
std::vector<std::int64_t> MultivariateHypergeometric(Rng& rng, std::span<const std::int64_t> counts,
                                                     std::int64_t draws);

// A uniformly random order.
template <typename T>
void Shuffle(Rng& rng, std::span<T> items) {
  for (std::size_t left = items.size(); left > 1; --left) {
    std::ranges::swap(items[left - 1], items[static_cast<std::size_t>(rng.Below(left))]);
  }
}

}  // namespace tributary::inline base
