#pragma once

#include <cstdint>
#include <vector>

#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary {

// Baselines that draw nothing. In the first two every client has a batch of its own, the same in each step until it runs
// out. Steps become smaller as clients run out, and the epoch ends with the last of them.

// batch/clients for each, rounded, at least 1.
std::vector<std::int64_t> EqualBatches(const SamplingProblem& problem, std::int64_t batch);
// In proportion to the clients' sizes, rounded, at least 1.
std::vector<std::int64_t> ProportionalBatches(const SamplingProblem& problem, std::int64_t batch);

// How many steps such an epoch has.
std::int64_t FixedSteps(const SamplingProblem& problem, const std::vector<std::int64_t>& batches);
SamplingPlan PlanFixed(const SamplingProblem& problem, const std::vector<std::int64_t>& batches);

// In the third, as in split learning before it was parallel, the clients follow each other: whole batches of one until
// its samples are used, the last of them smaller, then those of the next.
std::int64_t SequentialSteps(const SamplingProblem& problem, std::int64_t batch);
SamplingPlan PlanSequential(const SamplingProblem& problem, std::int64_t batch);

}  // namespace tributary
