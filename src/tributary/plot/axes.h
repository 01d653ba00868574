#pragma once

#include <limits>
#include <string>
#include <vector>

namespace tributary::inline plot {

// Where the numbers of an axis stand: multiples of 1, 2 or 5 times a power of ten.
struct Ticks {
  double step = 1;
  std::vector<double> at;  // Ascending, all within the range asked for.
  // One for each, with as many decimals as the step needs: "0", "0.5", "20k".
  std::vector<std::string> labels;
};

// About `wanted` ticks (between half and twice as many) over [low, high]. Both finite, high not below low,
// and `wanted` at least 1. A range of a single point gets the one tick at it.
Ticks NiceTicks(double low, double high, int wanted);

// The same for counts, whose steps are never below 1.
Ticks NiceCountTicks(double high, int wanted);

// The same for an axis that counts in powers: 1, 2 and 5 times powers of ten, powers of ten alone where those
// are enough, or NiceTicks where the range holds fewer than two of them. `low` must be positive. `step` means
// nothing here.
Ticks NiceLogTicks(double low, double high, int wanted);

// What an axis has to hold.
struct AxisRange {
  double low = std::numeric_limits<double>::infinity(), high = -std::numeric_limits<double>::infinity();

  bool empty() const { return low > high; }
  // A finite value.
  void Include(double value);
};

// From values to places on the picture. `to_low` may be above `to_high`, as for an axis that points up.
struct LinearScale {
  double low = 0;
  double high = 1;
  double to_low = 0;
  double to_high = 1;

  // A scale over a single value puts everything at to_low.
  double operator()(double value) const;
};

}  // namespace tributary::inline plot
