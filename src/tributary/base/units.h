#pragma once

#include <compare>
#include <cstdint>
#include <string>

#include "tributary/base/clock.h"

namespace tributary::inline base {

// A number whose type carries its unit. Only quantities of the same unit add and compare.
template <typename Tag, typename Number>
struct Quantity {
  Number value{};

  friend auto operator<=>(Quantity, Quantity) = default;
  friend Quantity operator+(Quantity a, Quantity b) { return {a.value + b.value}; }
  friend Quantity operator-(Quantity a, Quantity b) { return {a.value - b.value}; }
  friend Quantity operator*(Quantity a, Number factor) { return {a.value * factor}; }
  Quantity& operator+=(Quantity other) {
    value += other.value;
    return *this;
  }
};

using Bytes = Quantity<struct BytesTag, std::int64_t>;
using Macs = Quantity<struct MacsTag, std::int64_t>;  // multiply-accumulates
using BitsPerSecond = Quantity<struct BitsPerSecondTag, double>;
using MacsPerSecond = Quantity<struct MacsPerSecondTag, double>;
using SamplesPerSecond = Quantity<struct SamplesPerSecondTag, double>;

// For people: "3.51 M", "143.7 MB", "1.81 G", "1 min 12 s". Prefixes are powers of 1000.
std::string FormatCount(double count);
std::string FormatBytes(Bytes bytes);
std::string FormatDuration(Duration duration);

}  // namespace tributary::inline base
