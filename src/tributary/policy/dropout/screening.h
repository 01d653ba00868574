#pragma once

#include <span>
#include <vector>

namespace tributary {

// Who is worth a full evaluation, judged by a short one: the first rung of successive halving.

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

// For each candidate, whether it could still be better than all that cost no more. What the full evaluation would give is
// foretold from cost and screened value, by least squares over those who have both; a candidate is out only where it
// would be dominated even if that is `margin` standard deviations of the fit too high. With fewer than ten to learn from
// everybody is in. Should all be out, the most promising one is in.
//
// So where foretold and full values differ by noise whose bound is below `margin` deviations, nobody is out who belongs
// on the front.
std::vector<bool> WorthEvaluating(std::span<const FullyEvaluated> known, std::span<const ScreenedOnly> candidates,
                                  double margin = 3);

}  // namespace tributary
