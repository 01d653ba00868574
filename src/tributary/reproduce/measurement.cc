#include "tributary/reproduce/measurement.h"

#include <cmath>

namespace tributary {

bool IsUsableNumber(double value) { return std::isfinite(value) && std::abs(value) <= kLargestNumber; }

std::vector<std::string> DropUnusable(Measurement& measurement) {
  std::vector<std::string> dropped;
  for (auto it = measurement.numbers.begin(); it != measurement.numbers.end();) {
    if (IsUsableNumber(it->second)) {
      ++it;
    } else {
      dropped.push_back("'" + it->first + "'");
      it = measurement.numbers.erase(it);
    }
  }
  const std::size_t points = std::erase_if(measurement.curve, [](const Point& point) {
    return !IsUsableNumber(point.x) || !IsUsableNumber(point.y);
  });
  if (points > 0) dropped.push_back(std::to_string(points) + " points of the curve");
  return dropped;
}

Status CheckMeasurement(const Measurement& measurement) {
  if (measurement.numbers.size() > kMostNumbers) {
    return InvalidArgument("it has " + std::to_string(measurement.numbers.size()) + " numbers; at most " +
                           std::to_string(kMostNumbers) + " are allowed");
  }
  for (const auto& [name, value] : measurement.numbers) {
    if (name.empty() || name.size() > kLongestNumberName) {
      return InvalidArgument("a number has a name of " + std::to_string(name.size()) + " letters; 1 to " +
                             std::to_string(kLongestNumberName) + " are allowed");
    }
    if (!IsUsableNumber(value))
      return InvalidArgument("the number '" + name + "' is not finite or too large");
  }
  if (measurement.curve.size() > kMostCurvePoints) {
    return InvalidArgument("its curve has " + std::to_string(measurement.curve.size()) + " points; at most " +
                           std::to_string(kMostCurvePoints) + " are allowed");
  }
  for (std::size_t i = 0; i < measurement.curve.size(); ++i) {
    const Point& point = measurement.curve[i];
    if (!IsUsableNumber(point.x) || !IsUsableNumber(point.y)) {
      return InvalidArgument("point " + std::to_string(i) + " of its curve is not finite or too large");
    }
    if (i > 0 && point.x < measurement.curve[i - 1].x) {
      return InvalidArgument("point " + std::to_string(i) + " of its curve lies before the one it follows");
    }
  }
  return OkStatus();
}

}  // namespace tributary
