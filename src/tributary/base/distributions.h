#pragma once

#include <concepts>
#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"

namespace tributary::inline base {

// Distributions over an Rng, bit-identical on every machine. All are exact (no normal approximations).
// Invalid arguments, such as a negative shape or more draws than items, are bugs of the caller and abort.

double Uniform(Rng& rng, double low, double high);
double Normal(Rng& rng, double mean = 0, double deviation = 1);
// Gamma distribution with shape > 0 and scale 1.
double Gamma(Rng& rng, double shape);
// The number of successes in `trials` with probability `p` each.
std::int64_t Binomial(Rng& rng, std::int64_t trials, double p);

// A point on the simplex. Computed in log space, so that concentrations far below 1 (nearly all mass on one
// entry) do not underflow to 0/0.
std::vector<double> Dirichlet(Rng& rng, std::span<const double> concentrations);

// The number of `trials` in each class. `weights` must be ≥ 0 and not all zero; they need not sum to 1.
std::vector<std::int64_t> Multinomial(Rng& rng, std::int64_t trials, std::span<const double> weights);

// The number of items of each kind among `draws` taken without replacement from an urn with counts[i] items
// of kind i. O(kinds + draws·log kinds), integer arithmetic only.
std::vector<std::int64_t> MultivariateHypergeometric(Rng& rng, std::span<const std::int64_t> counts,
                                                     std::int64_t draws);

// Permutes `items` uniformly at random.
template <typename T>
void Shuffle(Rng& rng, std::span<T> items) {
  for (std::size_t left = items.size(); left > 1; --left)
    std::ranges::swap(items[left - 1], items[static_cast<std::size_t>(rng.Below(left))]);
}

}  // namespace tributary::inline base
