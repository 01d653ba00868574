#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tributary::inline policy {

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

// How NSGA-II orders points: by front, and within a front by how much room they have (Deb et al., 2002).

// The fronts as indices, best first: those that nothing dominates, then those that nothing dominates once the first are
// taken away, and so on. Within a front in the order given. Two objectives take O(n log n), more at worst O(n²).
std::vector<std::vector<std::size_t>> NonDominatedSort(std::span<const Objectives> points);

// For each point of a front, how far apart its neighbours along each objective are, as shares of the front's extent,
// added up. Infinite for the points at either end of an objective. Where several have the same value the one that comes
// first counts as the smaller.
std::vector<double> CrowdingDistances(std::span<const Objectives> points, std::span<const std::size_t> front);

}  // namespace tributary::inline policy
