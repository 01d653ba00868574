#pragma once

#include <limits>
#include <string>

namespace tributary {

// The numbers a key may have. Comparisons are such that NaN is never among them; infinities are not either.
struct Range {
  double low = 0;
  double high = std::numeric_limits<double>::max();
  bool above_low = false;   // low itself is not allowed
  bool below_high = false;  // high itself is not allowed

  bool Holds(double number) const {
    return (above_low ? number > low : number >= low) && (below_high ? number < high : number <= high);
  }
};

inline constexpr Range kShare{.low = 0, .high = 1};
inline constexpr Range kPositiveShare{.low = 0, .high = 1, .above_low = true};
inline constexpr Range kBelowOne{.low = 0, .high = 1, .below_high = true};
inline constexpr Range kNotNegative{};
inline constexpr Range kPositive{.above_low = true};

// "from 0 to 1", "above 0 and at most 1", "at least 0".
std::string Describe(const Range& range);

}  // namespace tributary
