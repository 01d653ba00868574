#pragma once

#include <span>
#include <vector>

#include "tributary/base/rng.h"

namespace tributary {

// How new real-valued vectors come from old ones: the variation of NSGA-II, in the forms that respect bounds (Deb and
// Agrawal, 1995; Deb and Goyal, 1996; as in Deb's own implementation).

using Genome = std::vector<double>;

// What a variable may be; one of equal bounds is fixed.
struct VariableBounds {
  double low = 0, high = 1;
};

// Simulated binary crossover: each variable is crossed with probability one half, and else passed on as it is. Crossed
// values spread about the parents' as one-point crossover of bit strings would spread them: near them where `eta` is
// large, and in proportion to how far apart they are. Where both bounds are equally far from the nearer parent the mean
// of the children is the parents'; elsewhere the side with less room spreads less.
// Parents lie within the bounds, and so do the children, which take their parents' places.
void SimulatedBinaryCrossover(Rng& rng, std::span<const VariableBounds> bounds, double eta, Genome& first,
                              Genome& second);

// Polynomial mutation: each variable moves with this probability, by a step that is mostly small where `eta` is large
// and never leads out of the bounds.
void PolynomialMutation(Rng& rng, std::span<const VariableBounds> bounds, double eta, double probability,
                        Genome& genome);

}  // namespace tributary
