#pragma once

#include <span>
#include <vector>

namespace tributary::inline policy {

// Who is worth a full evaluation, judged by a short one: a rung of successive halving.

// Of one that was fully evaluated.
struct FullyEvaluated {
  double cost = 0;
  double screened = 0;  // what the short evaluation gave
  double value = 0;     // what the full one did; both are to be small
};

struct ScreenedOnly {
  double cost = 0;
  double screened = 0;
};

struct ScreeningOptions {
  // Of the candidates, rounded up, that are evaluated at most. 1: all that might be on the front.
  double share = 1.0 / 3;
  // How wrong forecasts are taken to be, in standard deviations.
  double margin = 3;
};

// For each candidate, whether it gets the full evaluation. What that would give is foretold from cost and screened value,
// by least squares over those who have both. Out is
//   1. who would be dominated by what is known even if the forecast were `margin` deviations too high;
//   2. of the rest all but the best `share`: those that no other candidate dominates by its forecast come first, then those
//      that only these dominate, and so on, so that they come from the whole range of costs; within such a layer those that
//      gain most on what is known.
// With fewer than ten to learn from everybody is in. Should all be out, the most promising one is in.
//
// So with a share of 1, and noise whose bound is below `margin` deviations, nobody is out who belongs on the front. With a
// smaller one some may be, who are asked for again as long as they can be reached from what is on it.
std::vector<bool> WorthEvaluating(std::span<const FullyEvaluated> known,
                                  std::span<const ScreenedOnly> candidates,
                                  const ScreeningOptions& options = {});

}  // namespace tributary::inline policy
