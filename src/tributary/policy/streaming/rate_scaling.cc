#include "tributary/policy/streaming/rate_scaling.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tributary/base/check.h"
#include "tributary/base/names.h"

namespace tributary {

std::string_view NameOf(RateScaling scaling) {
  switch (scaling) {
    case RateScaling::kNone:
      return "none";
    case RateScaling::kLinear:
      return "linear";
    case RateScaling::kSquareRoot:
      return "square-root";
  }
  return "";
}

StatusOr<RateScaling> ParseRateScaling(std::string_view name) {
  std::vector<std::string> names;
  for (const RateScaling scaling : kRateScalings) {
    if (NameOf(scaling) == name) return scaling;
    names.emplace_back(NameOf(scaling));
  }
  return UnknownName("scaling", std::string(name), names);
}

double RateFactor(const RateScalingOptions& options, double samples, double base) {
  TRIBUTARY_CHECK(samples > 0 && base > 0);
  double factor = 1;
  if (options.rule == RateScaling::kLinear) factor = samples / base;
  if (options.rule == RateScaling::kSquareRoot) factor = std::sqrt(samples / base);
  return options.most ? std::min(factor, *options.most) : factor;
}

}  // namespace tributary
