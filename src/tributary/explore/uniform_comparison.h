#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tributary/explore/exploration.h"
#include "tributary/fleet/front_file.h"

namespace tributary::inline explore {

// Whether the search was worth it: the front against uniform vectors (one rate for all groups, as in Federated Dropout).
// Those on the front were chosen for the losses they had, so all of both are trained again with chance that had no part in
// the choice: `repeats` times, or as often as there was time before somebody said stop. Nothing if that was not once.
StatusOr<std::optional<FrontExtras::Comparison>> CompareWithUniform(Exploration& exploration,
                                                                    std::size_t repeats,
                                                                    const Exploration::Watch& watch);

// Part of the range of costs, from the cheapest uniform vector to the full network, in which the costliest vectors that can
// be afforded, of the uniform ones and of the front, are these.
struct ComparedCosts {
  double from = 0, to = 0;
  const FrontExtras::Retrained* uniform = nullptr;
  const FrontExtras::Retrained* front = nullptr;

  bool same() const { return uniform->point.dropout == front->point.dropout; }
  std::vector<double> Gains() const;  // of the front, for each chance
};
// All of the range, in order. They point into the comparison.
std::vector<ComparedCosts> CompareAtAllCosts(const FrontExtras::Comparison& comparison, FrontCost cost);

// Over which share of that range the front's mean loss is below the uniform one's, it is the same vector, or neither.
struct ComparisonTally {
  double better = 0, same = 0, worse = 0;
  double clearly_better = 0, clearly_worse = 0;  // by more than the deviation of the gains over the repeats
};
ComparisonTally TallyOf(const FrontExtras::Comparison& comparison, FrontCost cost);

// For people: a table with means, and deviations over the repeats. Costs are shares of the full network's.
std::string DescribeComparison(const FrontExtras::Comparison& comparison, FrontCost cost);

}  // namespace tributary::inline explore
