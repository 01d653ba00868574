#pragma once

#include <string>
#include <string_view>

#include "tributary/base/clock.h"
#include "tributary/base/status.h"

namespace tributary {

// What a number in an experiment file measures. A bare number is in the unit named here; a text carries its own.
enum class Unit {
  kBytes,             // 40MB, 64KiB
  kBitsPerSecond,     // 100Mbit/s
  kMacsPerSecond,     // 2G, 300M, 2GMAC/s
  kSeconds,           // 10min, 20ms
  kSamplesPerSecond,  // 64/s, 64samples/s
};

// The number that `text` means, in the unit's base. Finite and not negative; the error says what is allowed.
StatusOr<double> ParseQuantity(std::string_view text, Unit unit);

// An amount as it should stand in a file, in the largest unit that keeps it exact: "50Mbit/s". Parses back to the
// same bits.
std::string FormatQuantity(double amount, Unit unit);

// "10min", "1.5 s", "20ms"; and back, to the nanosecond.
StatusOr<Duration> ParseDuration(std::string_view text);
std::string FormatExactly(Duration duration);

// The shortest decimal that reads back to the same bits, with a decimal point or an exponent.
std::string FormatNumber(double number);

// A text as TOML writes it, in quotes.
std::string Quoted(std::string_view text);

// Times beyond this (some 30 years) are mistakes, and no sum of a few of them overflows.
inline constexpr double kLongestSeconds = 1e9;

}  // namespace tributary
