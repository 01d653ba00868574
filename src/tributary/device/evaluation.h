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
  double accuracy = 0;  // share of correct predictions (top-1)
  std::size_t samples = 0;
};

// Evaluates a network on these samples of a data set. `done` is called after each batch with the number of
// samples so far; false stops with Cancelled. Up to rounding, the result does not depend on the batch size.
StatusOr<Evaluation> Evaluate(Executor& executor, const Dataset& dataset,
                              std::span<const std::uint32_t> indices,
                              const std::function<bool(std::size_t)>& done = {});
// The same on all samples.
StatusOr<Evaluation> Evaluate(Executor& executor, const Dataset& dataset,
                              const std::function<bool(std::size_t)>& done = {});

// Evaluates weights on a whole data set on all threads of a pool, with one worker per thread. The result does
// not depend on the number of threads.
StatusOr<EvaluationTotals> EvaluateInParts(WorkerPool& pool, std::span<Worker> workers,
                                           const Dataset& dataset, const SharedWeights& weights);

// The node before the last layer, which turns its output into class scores.
NodeIndex PenultimateNode(const Graph& graph);

// The network's output before its last layer for every sample, in evaluation mode. `done` as for Evaluate.
StatusOr<LabelledFeatures> FeaturesOfNetwork(Executor& executor, const Dataset& dataset,
                                             const std::function<bool(std::size_t)>& done = {});

}  // namespace tributary::inline device
