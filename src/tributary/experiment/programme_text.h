#pragma once

#include <string_view>

#include "tributary/base/status.h"
#include "tributary/data/arrivals.h"

namespace tributary::inline experiment {

// Changes of a stream's rate over time: steps separated by commas, "repeat" at the end to start over.
//
//   hold:F:T        F times the rate, for the time T
//   stop:T          nothing
//   drift:F:G:T     linear from F to G times the rate
//   sine:A:P:T      1 + A · sin(2π · time / P)
//   burst:F:O:P:T   F times the rate during the first O of every P, the plain rate otherwise
//
// The last T may be omitted for a step without an end (not a drift). The plain rate follows the last step.
StatusOr<RateSteps> ParseRateSteps(std::string_view text);

}  // namespace tributary::inline experiment
