#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tributary::inline policy {

// Multi-objective points; every objective is minimised. All points have the same number of values, none NaN.
using Objectives = std::vector<double>;

// No value larger and at least one smaller. Equal points do not dominate each other.
bool Dominates(std::span<const double> a, std::span<const double> b);

// Indices of the points that no other point dominates, in the given order. Equal points stay or go together.
std::vector<std::size_t> NonDominated(std::span<const Objectives> points);

// The area between the points of two objectives and the reference, without points not strictly below it.
double Hypervolume2D(std::span<const Objectives> points, std::span<const double> reference);

// The order of NSGA-II: by front, then by crowding distance (Deb et al., 2002).

// The fronts as indices, best first: the non-dominated points, then the non-dominated points of the rest, and
// so on. Within a front in the given order. O(n log n) for two objectives, at worst O(n²) for more.
std::vector<std::vector<std::size_t>> NonDominatedSort(std::span<const Objectives> points);

// The crowding distance of each point of a front: the distance between its neighbours along each objective,
// relative to the front's extent, summed. Infinite for extremes. Of equal values the first counts as smaller.
std::vector<double> CrowdingDistances(std::span<const Objectives> points, std::span<const std::size_t> front);

}  // namespace tributary::inline policy
