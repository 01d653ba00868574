#pragma once

#include <string>
#include <vector>

#include "tributary/explore/exploration.h"
#include "tributary/fleet/front_file.h"

namespace tributary {

// Whether the search was worth it: each uniform vector (one rate for all groups, as in Federated Dropout) against the front
// at no more than its cost. Those on the front were chosen for the losses they had, so both are trained again with chance
// that had no part in the choice: `repeats` times, or as often as there was time before somebody said stop.
StatusOr<std::vector<FrontExtras::Comparison>> CompareWithUniform(Exploration& exploration, std::size_t repeats,
                                                                  const Exploration::Watch& watch);

// At how many costs the front's mean loss is below, equal to (where it is the same vector) or above the uniform one's.
struct ComparisonTally {
  std::size_t better = 0, same = 0, worse = 0;
  // Of the range of costs from the cheapest uniform vector to the full network, where the front is better. From a uniform
  // vector to the next it is what it is at the cheaper one, where it has least to choose from.
  double better_share = 0;
};
ComparisonTally TallyOf(const std::vector<FrontExtras::Comparison>& comparison, const ParetoFront& front);

// For people: a table with means, and deviations over the repeats.
std::string DescribeComparison(const std::vector<FrontExtras::Comparison>& comparison, FrontCost cost);

}  // namespace tributary
