#pragma once

#include <cstddef>
#include <functional>

#include "tributary/base/status.h"
#include "tributary/data/dataset.h"
#include "tributary/data/labelled_features.h"
#include "tributary/engine/executor.h"

namespace tributary::inline device {

// The node whose output a network's last layer makes class scores of.
NodeIndex PenultimateNode(const Graph& graph);

// What a network makes of every sample of a data set right before its last layer: features that the network itself
// found to tell the classes apart. In evaluation mode. `done` as in evaluation.h.
StatusOr<LabelledFeatures> FeaturesOfNetwork(Executor& executor, const Dataset& dataset,
                                             const std::function<bool(std::size_t)>& done = {});

}  // namespace tributary::inline device
