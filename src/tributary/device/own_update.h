#pragma once

#include <span>
#include <vector>

#include "tributary/base/status.h"
#include "tributary/base/worker_pool.h"
#include "tributary/device/worker.h"

namespace tributary::inline device {

// The parameters of the update that the coordinator learns from its own samples with the devices' assignment, for aggregation
// rules that compare updates with it. On one thread of the pool, so a simulated and a real coordinator get the same bits.
// Unavailable if the loss is not finite.
StatusOr<std::vector<float>> LearnOwnUpdate(WorkerPool& pool, std::span<Worker> workers,
                                            const TrainAssignment& assignment, const SharedWeights& weights,
                                            const LocalData& data);

}  // namespace tributary::inline device
