#pragma once

#include <span>

#include "tributary/base/status.h"
#include "tributary/base/worker_pool.h"
#include "tributary/data/dataset.h"
#include "tributary/device/worker.h"

namespace tributary::inline device {

// Measures weights on a whole data set, on all threads of a pool; one worker per thread. The parts are the same
// whatever the number of threads, and so is the result.
StatusOr<EvaluationTotals> EvaluateInParts(WorkerPool& pool, std::span<Worker> workers,
                                           const Dataset& dataset, const SharedWeights& weights);

}  // namespace tributary::inline device
