#pragma once

#include <string_view>

#include "tributary/base/status.h"
#include "tributary/data/arrivals.h"

namespace tributary::inline experiment {

// How a stream's rate changes, as a person writes it: steps with commas between them, "repeat" at the end to begin again.
//
//   hold:F:T        F times the rate, for the time T
//   stop:T          nothing
//   drift:F:G:T     from F to G times the rate, in a straight line
//   sine:A:P:T      1 + A · sin(2π · time / P)
//   burst:F:O:P:T   F times the rate during the first O of every P, the rate itself in the rest
//
// The last T may be left out where the step goes on for ever (not of a drift). After the last step the rate is itself.
StatusOr<RateSteps> ParseRateSteps(std::string_view text);

}  // namespace tributary::inline experiment
