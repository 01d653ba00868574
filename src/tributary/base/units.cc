#include "tributary/base/units.h"

#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <span>

namespace tributary {
namespace {

struct Suffix {
  std::string_view name;
  double factor;
};

constexpr std::array<Suffix, 10> kByteSuffixes = {{{"", 1},
                                                   {"B", 1},
                                                   {"kB", 1e3},
                                                   {"KB", 1e3},
                                                   {"MB", 1e6},
                                                   {"GB", 1e9},
                                                   {"KiB", 1024.0},
                                                   {"MiB", 1024.0 * 1024},
                                                   {"GiB", 1024.0 * 1024 * 1024},
                                                   {"TB", 1e12}}};
constexpr std::array<Suffix, 4> kRateSuffixes = {
    {{"bit/s", 1}, {"kbit/s", 1e3}, {"Mbit/s", 1e6}, {"Gbit/s", 1e9}}};

std::string Join(std::span<const Suffix> suffixes) {
  std::string names;
  for (const Suffix& suffix : suffixes) {
    if (suffix.name.empty()) continue;
    if (!names.empty()) names += ", ";
    names += suffix.name;
  }
  return names;
}

// A non-negative finite number followed by one of `suffixes`, with or without a space between.
StatusOr<double> ParseQuantity(std::string_view text, std::span<const Suffix> suffixes, std::string_view example) {
  const auto fail = [&] {
    return InvalidArgument("'" + std::string(text) + "' is not a quantity like " + std::string(example) +
                           "; units are " + Join(suffixes));
  };
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || !std::isfinite(number) || number < 0) return fail();
  std::string_view unit(rest, static_cast<std::size_t>(text.data() + text.size() - rest));
  while (!unit.empty() && unit.front() == ' ') unit.remove_prefix(1);
  for (const Suffix& suffix : suffixes) {
    if (unit == suffix.name) return number * suffix.factor;
  }
  return fail();
}

std::string Scaled(double value, std::span<const std::string_view> units) {
  std::size_t step = 0;
  while (std::abs(value) >= 999.5 && step + 1 < units.size()) {
    value /= 1000;
    ++step;
  }
  const int decimals = step == 0 && value == std::floor(value) ? 0 : value < 10 ? 2 : value < 100 ? 1 : 0;
  std::array<char, 64> buffer{};
  std::snprintf(buffer.data(), buffer.size(), "%.*f", decimals, value);
  std::string text(buffer.data());
  if (!units[step].empty()) text += " " + std::string(units[step]);
  return text;
}

}  // namespace

Duration TransferTime(Bytes amount, BitsPerSecond rate) {
  TRIBUTARY_CHECK(rate.value > 0);
  return FromSeconds(8.0 * static_cast<double>(amount.value) / rate.value);
}

Duration ComputeTime(Macs amount, MacsPerSecond rate) {
  TRIBUTARY_CHECK(rate.value > 0);
  return FromSeconds(static_cast<double>(amount.value) / rate.value);
}

std::string FormatCount(double count) {
  static constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  return Scaled(count, kUnits);
}

std::string FormatBytes(Bytes bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  return Scaled(static_cast<double>(bytes.value), kUnits);
}

std::string FormatRate(BitsPerSecond rate) {
  static constexpr std::array<std::string_view, 5> kUnits = {"bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"};
  return Scaled(rate.value, kUnits);
}

std::string FormatDuration(Duration duration) {
  const double seconds = ToSeconds(duration);
  std::array<char, 64> buffer{};
  if (seconds < 0.001) {
    std::snprintf(buffer.data(), buffer.size(), "%.0f µs", seconds * 1e6);
  } else if (seconds < 1) {
    std::snprintf(buffer.data(), buffer.size(), "%.0f ms", seconds * 1e3);
  } else if (seconds < 59.95) {
    std::snprintf(buffer.data(), buffer.size(), "%.1f s", seconds);
  } else {
    const auto whole = static_cast<long long>(std::llround(seconds));
    if (whole < 3600) {
      std::snprintf(buffer.data(), buffer.size(), "%lld min %lld s", whole / 60, whole % 60);
    } else {
      std::snprintf(buffer.data(), buffer.size(), "%lld h %lld min", whole / 3600, whole / 60 % 60);
    }
  }
  return buffer.data();
}

StatusOr<Bytes> ParseBytes(std::string_view text) {
  TRIBUTARY_ASSIGN_OR_RETURN(const double bytes, ParseQuantity(text, kByteSuffixes, "40MB"));
  if (bytes > 9e18 || bytes != std::floor(bytes)) {
    return InvalidArgument("'" + std::string(text) + "' is not a whole number of bytes that fits in 63 bits");
  }
  return Bytes{static_cast<std::int64_t>(bytes)};
}

StatusOr<BitsPerSecond> ParseRate(std::string_view text) {
  TRIBUTARY_ASSIGN_OR_RETURN(const double rate, ParseQuantity(text, kRateSuffixes, "100Mbit/s"));
  if (rate <= 0) return InvalidArgument("a rate must be more than zero, found '" + std::string(text) + "'");
  return BitsPerSecond{rate};
}

}  // namespace tributary
