#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tributary/explore/exploration.h"
#include "tributary/fleet/front_file.h"

namespace tributary::inline explore {

// Compares the front with uniform vectors (one rate for all groups, as in Federated Dropout). The front was
// selected by its losses, so all vectors are trained again with random seeds not used in the search:
// `repeats` times, or until cancelled. Empty if not even one repeat was completed.
StatusOr<std::optional<FrontExtras::Comparison>> CompareWithUniform(Exploration& exploration,
                                                                    std::size_t repeats,
                                                                    const Exploration::Watch& watch);

// A part of the range of costs, from the cheapest uniform vector to the full network, with the most expensive
// affordable vectors in it: uniform and on the front.
struct ComparedCosts {
  double from = 0, to = 0;
  const FrontExtras::Retrained* uniform = nullptr;
  const FrontExtras::Retrained* front = nullptr;

  bool same() const { return uniform->point.dropout == front->point.dropout; }
  std::vector<double> Gains() const;  // of the front, per repeat
};
// All parts of the range, in order. Pointers refer to `comparison`.
std::vector<ComparedCosts> CompareAtAllCosts(const FrontExtras::Comparison& comparison, FrontCost cost);

// Fractions of that range in which the front's mean loss is lower, it is the same vector, or neither.
struct ComparisonTally {
  double better = 0, same = 0, worse = 0;
  double clearly_better = 0, clearly_worse = 0;  // by more than the standard deviation of the gains
};
ComparisonTally TallyOf(const FrontExtras::Comparison& comparison, FrontCost cost);

// A table for people: means and standard deviations over the repeats. Costs are relative to the full network.
std::string DescribeComparison(const FrontExtras::Comparison& comparison, FrontCost cost);

}  // namespace tributary::inline explore
