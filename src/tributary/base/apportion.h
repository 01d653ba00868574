#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tributary::inline base {

// Divides `total` into integers proportional to `shares` (non-negative, not all zero) by largest remainder:
// parts are within one of their exact values and sum to `total`. Ties go to the earlier part.
std::vector<std::size_t> DivideByShares(std::size_t total, std::span<const double> shares);

// Divides `total` into `parts` whole numbers that differ by at most one, the larger numbers first.
std::vector<std::size_t> DivideEvenly(std::size_t total, std::size_t parts);

}  // namespace tributary::inline base
