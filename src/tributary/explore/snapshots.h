#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "tributary/explore/exploration_data.h"
#include "tributary/explore/thin_training.h"

namespace tributary {

// The moments from which candidates train: early, in the middle and late in a training. That training is of the kind that
// they are for, steps of many devices each with another vector: of a network that was always trained whole, what is first
// seen of any vector is the harm of taking apart what had grown together. Each is trained from the one before, with momentum
// from zero, so that those which are there are all that going on takes.

// How many steps lie between the snapshot before (or the start) and this one.
std::size_t StepsToSnapshot(const ExploreOptions& options, std::size_t snapshot);

// The next snapshot after `done`, on the calling thread, with as many compute threads as are set there. Cancelled if
// `should_stop` says so between two steps; an error if the loss stops being a number.
StatusOr<Snapshot> NextSnapshot(const ExploreOptions& options, const std::shared_ptr<const Model>& model,
                                const ExplorationData& data, const std::vector<Snapshot>& done,
                                const std::function<bool(std::size_t steps)>& should_stop);

}  // namespace tributary
