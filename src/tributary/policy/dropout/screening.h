#pragma once

#include <span>
#include <vector>

namespace tributary::inline policy {

// Selects candidates for full evaluation after a short one: a rung of successive halving.

struct FullyEvaluated {
  double cost = 0;
  double screened = 0;  // result of the short evaluation
  double value = 0;     // result of the full evaluation; both are minimised
};

struct ScreenedOnly {
  double cost = 0;
  double screened = 0;
};

struct ScreeningOptions {
  // Maximum fraction of candidates that are evaluated, rounded up. 1: all that may be on the front.
  double share = 1.0 / 3;
  // Assumed maximum error of forecasts, in standard deviations.
  double margin = 3;
};

// Returns whether each candidate gets the full evaluation. The full result is forecast from cost and screened
// value, by least squares over `known`. Rejected are
//   1. candidates that `known` would dominate even if the forecast were `margin` deviations too high;
//   2. of the rest, all but the best `share`, by non-dominated sorting of the forecasts, so that they cover
//      the whole range of costs; within a front by gain over `known`.
// With fewer than ten in `known`, all are accepted. Otherwise at least the most promising one is accepted.
//
// So with share 1 and noise below `margin` deviations, no candidate of the front is lost. With a smaller
// share some may be; the search asks for them again as long as they can be reached from the front.
std::vector<bool> WorthEvaluating(std::span<const FullyEvaluated> known,
                                  std::span<const ScreenedOnly> candidates,
                                  const ScreeningOptions& options = {});

}  // namespace tributary::inline policy
