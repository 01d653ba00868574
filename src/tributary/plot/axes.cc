#include "tributary/plot/axes.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "tributary/base/check.h"

namespace tributary::inline plot {
namespace {

// The number of the form 1, 2 or 5 times a power of ten with the nearest ratio to `rough`.
double NiceStep(double rough) {
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double factor = rough / power;
  // The limits are the geometric means of neighbours: √2, √10, √50.
  if (factor < 1.4142) return power;
  if (factor < 3.1623) return 2 * power;
  if (factor < 7.0711) return 5 * power;
  return 10 * power;
}

std::string Label(double value, double step) {
  std::string suffix;
  // All labels of an axis share the unit that fits its step, for easy comparison.
  for (const auto& [size, letter] : {std::pair(1e9, "G"), {1e6, "M"}, {1e3, "k"}}) {
    if (step < size * 0.999) continue;
    value /= size;
    step /= size;
    suffix = letter;
    break;
  }
  const int decimals = std::clamp(static_cast<int>(-std::floor(std::log10(step) + 1e-9)), 0, 12);
  const std::string text = fmt::format("{:.{}f}", value, decimals);
  return text == "0" || value == 0 ? "0" : text + suffix;
}

Ticks TicksWithStep(double low, double high, double step) {
  Ticks ticks{step, {}, {}};
  const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
  for (double i = first; i <= last; ++i) {
    // Computed from the index, because repeated addition would accumulate errors.
    const double value = i * step;
    ticks.at.push_back(std::clamp(value, low, high));
    ticks.labels.push_back(Label(value, step));
  }
  return ticks;
}

}  // namespace

Ticks NiceTicks(double low, double high, int wanted) {
  TRIBUTARY_CHECK(std::isfinite(low) && std::isfinite(high) && low <= high && wanted >= 1);
  if (low == high) {
    const double step = low == 0 ? 1 : NiceStep(std::abs(low) / 100);
    return {step, {low}, {Label(low, step)}};
  }
  return TicksWithStep(low, high, NiceStep((high - low) / wanted));
}

Ticks NiceCountTicks(double high, int wanted) {
  TRIBUTARY_CHECK(std::isfinite(high) && high >= 0 && wanted >= 1);
  return TicksWithStep(0, high, NiceStep(std::max(1.0, high / wanted)));
}

Ticks NiceLogTicks(double low, double high, int wanted) {
  TRIBUTARY_CHECK(std::isfinite(high) && low > 0 && low <= high && wanted >= 1);
  const int first = static_cast<int>(std::floor(std::log10(low)));
  const int last = static_cast<int>(std::ceil(std::log10(high)));
  const int decades = last - first;
  // Few decades are subdivided; of many, only some get a tick.
  const bool divide = 2 * decades <= wanted;
  const int stride = std::max(1, (decades + wanted - 1) / wanted);
  Ticks ticks;
  for (int power = first; power <= last; power += stride) {
    for (const double digit : {1.0, 2.0, 5.0}) {
      const double value = digit * std::pow(10, power);
      if ((digit != 1 && !divide) || value < low * (1 - 1e-9) || value > high * (1 + 1e-9)) continue;
      ticks.at.push_back(std::clamp(value, low, high));
      ticks.labels.push_back(Label(value, value));
    }
  }
  return ticks.at.size() >= 2 ? ticks : NiceTicks(low, high, wanted);
}

void AxisRange::Include(double value) {
  TRIBUTARY_CHECK(std::isfinite(value));
  low = std::min(low, value);
  high = std::max(high, value);
}

double LinearScale::operator()(double value) const {
  if (high == low) return to_low;
  return to_low + (value - low) / (high - low) * (to_high - to_low);
}

}  // namespace tributary::inline plot
