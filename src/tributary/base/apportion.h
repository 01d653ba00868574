#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace tributary::inline base {

// `total` cut into whole numbers in proportion to `shares` (not negative, not all zero) by largest remainder:
// each part is within one of its exact value, and they sum to `total`. Equal remainders favour the earlier
// part.
std::vector<std::size_t> DivideByShares(std::size_t total, std::span<const double> shares);

// `total` cut into `parts` whole numbers that differ by at most one, the larger ones first.
std::vector<std::size_t> DivideEvenly(std::size_t total, std::size_t parts);

}  // namespace tributary::inline base
