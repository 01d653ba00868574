#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>

#include "tributary/base/status.h"
#include "tributary/base/worker_pool.h"
#include "tributary/data/dataset.h"
#include "tributary/data/labelled_features.h"
#include "tributary/device/worker.h"
#include "tributary/engine/executor.h"

namespace tributary::inline device {

struct Evaluation {
  double loss = 0;      // mean over the samples
  double accuracy = 0;  // share whose most likely class is right
  std::size_t samples = 0;
};

// Runs a network over these samples of a data set without learning. `done`, if given, is called after each batch with the number
// of samples so far; it may say false to give up, which is reported as cancelled. The result does not depend on how
// the samples are batched, up to rounding.
StatusOr<Evaluation> Evaluate(Executor& executor, const Dataset& dataset,
                              std::span<const std::uint32_t> indices,
                              const std::function<bool(std::size_t)>& done = {});
// The same over all of them.
StatusOr<Evaluation> Evaluate(Executor& executor, const Dataset& dataset,
                              const std::function<bool(std::size_t)>& done = {});

// Measures weights on a whole data set, on all threads of a pool; one worker per thread. The parts are the same
// whatever the number of threads, and so is the result.
StatusOr<EvaluationTotals> EvaluateInParts(WorkerPool& pool, std::span<Worker> workers,
                                           const Dataset& dataset, const SharedWeights& weights);

// The node whose output a network's last layer makes class scores of.
NodeIndex PenultimateNode(const Graph& graph);

// What a network makes of every sample of a data set right before its last layer: features that the network itself
// found to tell the classes apart. In evaluation mode. `done` as for Evaluate.
StatusOr<LabelledFeatures> FeaturesOfNetwork(Executor& executor, const Dataset& dataset,
                                             const std::function<bool(std::size_t)>& done = {});

}  // namespace tributary::inline device
