#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tributary {

// Points compared by several measures at once, all of which are to be small. A point has as many values as its
// neighbours, and none is NaN.
using Objectives = std::vector<double>;

// Nowhere larger, and somewhere smaller. Equal points do not dominate each other.
bool Dominates(std::span<const double> a, std::span<const double> b);

// Which points no other one dominates, in the order given. Of equal points all are kept, or none.
std::vector<std::size_t> NonDominated(std::span<const Objectives> points);

// The area, below and left of the reference, that points of two objectives dominate. Those that do not lie strictly
// below it in both add nothing.
double Hypervolume2D(std::span<const Objectives> points, std::span<const double> reference);

}  // namespace tributary
