#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tributary/base/ids.h"
#include "tributary/base/status.h"
#include "tributary/experiment/document.h"
#include "tributary/experiment/quantity.h"

namespace tributary::inline experiment {

// A number of a group of devices, which may differ from device to device. In the base of its key's unit.
//
//   2e9, "2G"              the same for all
//   "uniform(12,64)"       each device draws one, evenly between the two
//   "normal(64,24)"        each draws one, mean and standard deviation; drawn again while it is not an allowed value
//   ["1G", "2G", "4G"]     dealt to the group's devices in turn
struct Distribution {
  enum class Kind { kConstant, kUniform, kNormal, kList };
  Kind kind = Kind::kConstant;
  std::vector<double> numbers;  // the value; low and high; mean and deviation; the values

  static Distribution Constant(double number) { return {Kind::kConstant, {number}}; }
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

// Refused: what is none of the forms above, values (or ends, or a mean) that are not in `allowed`, a list without
// values, ends in the wrong order. With a mean that is allowed, a redrawn normal succeeds about every other time at
// worst, unless its deviation dwarfs an upper bound.
StatusOr<Distribution> ParseDistribution(const Value& value, Unit unit, const Range& allowed);

// As it should stand in a file; parses back to the same.
std::string FormatDistribution(const Distribution& distribution, Unit unit);

// Whom a number is drawn for. Draws for different devices or purposes do not depend on each other.
struct DrawKey {
  std::uint64_t seed = 0;
  DeviceId device;
  std::string_view purpose;
  std::size_t index_in_group = 0;
};

// The number of this device. Fails only if a normal missed `allowed` a thousand times in a row.
StatusOr<double> Draw(const Distribution& distribution, const Range& allowed, const DrawKey& key);

}  // namespace tributary::inline experiment
