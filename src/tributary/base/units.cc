#include "tributary/base/units.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <span>
#include <string_view>

namespace tributary::inline base {
namespace {

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

std::string FormatCount(double count) {
  static constexpr std::array<std::string_view, 5> kUnits = {"", "k", "M", "G", "T"};
  return Scaled(count, kUnits);
}

std::string FormatBytes(Bytes bytes) {
  static constexpr std::array<std::string_view, 5> kUnits = {"B", "kB", "MB", "GB", "TB"};
  return Scaled(static_cast<double>(bytes.value), kUnits);
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

}  // namespace tributary::inline base
