#pragma once

#include <cstdint>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// Plans that look at the clients' sizes alone, and not at labels or delays. All but the last draw nothing.

// Every client has a batch of its own, the same in each step until it runs out. Steps become smaller as clients run out,
// and the epoch ends with the last of them.

// batch/clients for each, rounded, at least 1.
std::vector<std::int64_t> EqualBatches(const SamplingProblem& problem, std::int64_t batch);
// In proportion to the clients' sizes, rounded, at least 1.
std::vector<std::int64_t> ProportionalBatches(const SamplingProblem& problem, std::int64_t batch);

// How many steps such an epoch has.
std::int64_t FixedSteps(const SamplingProblem& problem, const std::vector<std::int64_t>& batches);
SamplingPlan PlanFixed(const SamplingProblem& problem, const std::vector<std::int64_t>& batches);

// As in split learning before it was parallel, the clients follow each other: whole batches of one until
// its samples are used, the last of them smaller, then those of the next.
std::int64_t SequentialSteps(const SamplingProblem& problem, std::int64_t batch);
SamplingPlan PlanSequential(const SamplingProblem& problem, std::int64_t batch);

// An epoch in which every way of dealing the samples out to the steps is equally likely: each global batch has exactly
// the law of a batch drawn without replacement from all samples in one place. Every sample once, in near-equal steps.
SamplingPlan PlanUniformGlobal(const SamplingProblem& problem, std::int64_t batch, Rng& rng);

}  // namespace tributary::inline policy
