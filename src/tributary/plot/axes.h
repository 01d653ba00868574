#pragma once

#include <limits>
#include <string>
#include <vector>

namespace tributary::inline plot {

// Tick marks of an axis, at multiples of 1, 2 or 5 times a power of ten.
struct Ticks {
  double step = 1;
  std::vector<double> at;  // ascending, within the requested range
  // One per tick, with the decimals that the step needs: "0", "0.5", "20k".
  std::vector<std::string> labels;
};

// About `wanted` ticks (from half to twice the number) over [low, high]. Both finite, low ≤ high, `wanted` at
// least 1. A range of a single point gets one tick.
Ticks NiceTicks(double low, double high, int wanted);

// The same for counts, with steps of at least 1.
Ticks NiceCountTicks(double high, int wanted);

// The same for a logarithmic axis: 1, 2 and 5 times powers of ten, or powers of ten if these suffice. Falls
// back to NiceTicks if the range contains fewer than two of them. `low` must be positive. `step` is unused.
Ticks NiceLogTicks(double low, double high, int wanted);

// The range of values of an axis.
struct AxisRange {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  bool empty() const { return low > high; }
  // `value` must be finite.
  void Include(double value);
};

// Maps values to positions in the picture. `to_low` may exceed `to_high`, as for an axis that points up.
struct LinearScale {
  double low = 0;
  double high = 1;
  double to_low = 0;
  double to_high = 1;

  // If low = high, all values map to to_low.
  double operator()(double value) const;
};

}  // namespace tributary::inline plot
