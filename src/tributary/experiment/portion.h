#pragma once

#include <cstdint>
#include <variant>

namespace tributary {

// Some of the devices: a share of them, or a number. In a file a whole number (10) counts devices, and a number with a
// decimal point (0.5, 1.0) is a share: 1 is one device, 1.0 all of them.
struct Portion {
  std::variant<double, std::int64_t> amount = 1.0;

  // How many that is of `total`: at least one, at most all; a share is rounded to the nearest number.
  std::int64_t Of(std::int64_t total) const;

  static Portion Share(double share) { return {share}; }
  static Portion Count(std::int64_t count) { return {count}; }
  friend bool operator==(const Portion&, const Portion&) = default;
};

}  // namespace tributary
