#include "tributary/base/apportion.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "tributary/base/check.h"

namespace tributary::inline base {

std::vector<std::size_t> DivideByShares(std::size_t total, std::span<const double> shares) {
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  TRIBUTARY_CHECK(sum > 0);
  std::vector<std::size_t> counts(shares.size());
  std::vector<double> remainders(shares.size());
  std::size_t placed = 0;
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const double exact = static_cast<double>(total) * (shares[i] / sum);
    // Rounding of the quotients can make the floors exceed the total by one; the last parts then get less.
    counts[i] = std::min(static_cast<std::size_t>(std::floor(exact)), total - placed);
    remainders[i] = exact - static_cast<double>(counts[i]);
    placed += counts[i];
  }
  std::vector<std::size_t> order(shares.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return remainders[a] > remainders[b]; });
  for (std::size_t i = 0; placed < total; i = (i + 1) % order.size(), ++placed) ++counts[order[i]];
  return counts;
}

std::vector<std::size_t> DivideEvenly(std::size_t total, std::size_t parts) {
  TRIBUTARY_CHECK(parts > 0);
  std::vector<std::size_t> counts(parts, total / parts);
  for (std::size_t i = 0; i < total % parts; ++i) ++counts[i];
  return counts;
}

}  // namespace tributary::inline base
