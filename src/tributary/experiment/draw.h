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

// A number that may differ between the devices of a group, in the base unit of its key.
//
//   2e9, "2G"              the same for all
//   "uniform(12,64)"       drawn for each device from this interval
//   "normal(64,24)"        drawn for each device (mean, standard deviation); redrawn until allowed
//   ["1G", "2G", "4G"]     assigned to the group's devices in turn
struct Distribution {
  enum class Kind { kConstant, kUniform, kNormal, kList };
  Kind kind = Kind::kConstant;
  std::vector<double> numbers;  // value; low and high; mean and deviation; list

  static Distribution Constant(double number) { return {Kind::kConstant, {number}}; }
  friend bool operator==(const Distribution&, const Distribution&) = default;
};

// Refuses other forms, values (bounds, a mean) outside `allowed`, empty lists and low > high. With an allowed
// mean, about half the draws of a normal or more are accepted, unless its deviation dwarfs the range.
StatusOr<Distribution> ParseDistribution(const Value& value, Unit unit, const Range& allowed);

// The distribution as TOML; parses back to the same.
std::string FormatDistribution(const Distribution& distribution, Unit unit);

// Identifies a draw. Draws for different devices or purposes are independent.
struct DrawKey {
  std::uint64_t seed = 0;
  DeviceId device;
  std::string_view purpose;
  std::size_t index_in_group = 0;
};

// The device's number. Fails only if a normal misses `allowed` a thousand times in a row.
StatusOr<double> Draw(const Distribution& distribution, const Range& allowed, const DrawKey& key);

}  // namespace tributary::inline experiment
