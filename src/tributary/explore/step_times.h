#pragma once

#include <functional>
#include <memory>

#include "tributary/base/clock.h"
#include "tributary/explore/thin_training.h"
#include "tributary/policy/dropout/cost_model.h"

namespace tributary {

// What a training step on a sub-network takes on this machine, on the calling thread alone: random vectors over the whole
// range and the full network are measured on made-up samples, one after the other and all again (medians), and a
// model is fitted. Features are those of the whole mini-batch. Cancelled where `should_stop` says so.
StatusOr<CostModel> MeasureStepTimes(const ExploreOptions& options, const std::shared_ptr<const Model>& model,
                                     const Clock& clock, const std::function<bool()>& should_stop);

// The features of a step of `batch` samples, from those of one.
CostFeatures FeaturesOfBatch(CostFeatures of_one, std::size_t batch);

}  // namespace tributary
