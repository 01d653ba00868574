#pragma once

#include <compare>
#include <cstdint>
#include <string>
#include <string_view>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"

namespace tributary {

// A number with its unit in the type. Same units add and compare; different ones do not mix except where a function
// below says what the result is.
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

// How long a rate needs for an amount. The rate must be positive.
Duration TransferTime(Bytes amount, BitsPerSecond rate);
Duration ComputeTime(Macs amount, MacsPerSecond rate);

// For people: "3.51 M", "143.7 MB", "1.81 G", "250 Mbit/s", "1 min 12 s". Units of a thousand.
std::string FormatCount(double count);
std::string FormatBytes(Bytes bytes);
std::string FormatRate(BitsPerSecond rate);
std::string FormatDuration(Duration duration);

// "40MB", "64 KiB", "512" (bytes). Whole, non-negative, and small enough to fit.
StatusOr<Bytes> ParseBytes(std::string_view text);
// "100Mbit/s", "1.5 Gbit/s". Positive and finite.
StatusOr<BitsPerSecond> ParseRate(std::string_view text);

}  // namespace tributary
