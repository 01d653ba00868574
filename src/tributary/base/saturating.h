#pragma once

#include <concepts>
#include <limits>

#include "tributary/base/units.h"

namespace tributary::inline base {

// Sums and products that saturate at the limits of their type, for adding up numbers from untrusted files.

template <std::integral Number>
Number SaturatingAdd(Number a, Number b) {
  Number sum{};
  if (!__builtin_add_overflow(a, b, &sum)) return sum;
  return b > 0 ? std::numeric_limits<Number>::max() : std::numeric_limits<Number>::min();
}

template <std::integral Number>
Number SaturatingMultiply(Number a, Number b) {
  Number product{};
  if (!__builtin_mul_overflow(a, b, &product)) return product;
  return (a < 0) == (b < 0) ? std::numeric_limits<Number>::max() : std::numeric_limits<Number>::min();
}

inline Duration SaturatingAdd(Duration a, Duration b) {
  return Duration(SaturatingAdd(a.count(), b.count()));
}
inline Bytes SaturatingAdd(Bytes a, Bytes b) { return {SaturatingAdd(a.value, b.value)}; }

}  // namespace tributary::inline base
