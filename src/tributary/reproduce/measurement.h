#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/plot/svg.h"

namespace tributary {

// What one run of one arm gave.
struct Measurement {
  // By name: "accuracy", "waiting share". Those that no metric of the reproduction names are kept with the
  // result and not shown. A number that this run does not have is left out.
  std::map<std::string, double> numbers;
  // How the run went, if it has a course worth drawing: x is virtual seconds, say, and y is accuracy. x never
  // decreases.
  std::vector<Point> curve;
};

// Far beyond any honest measurement; they keep result files, and what is computed from them, bounded.
constexpr std::size_t kMostNumbers = 256;
constexpr std::size_t kLongestNumberName = 128;
constexpr std::size_t kMostCurvePoints = 50'000;
constexpr std::size_t kLongestFingerprint = 65'536;
constexpr double kLargestNumber = 1e18;

// Finite, and of a magnitude up to kLargestNumber.
bool IsUsableNumber(double value);

// Takes out the numbers and points of the curve that are not usable, which is what a run that diverged has.
// Returns what was taken out, for a message: "'loss'", "7 points of the curve".
std::vector<std::string> DropUnusable(Measurement& measurement);

// Whether it is within the bounds above and its curve is in order.
Status CheckMeasurement(const Measurement& measurement);

}  // namespace tributary
