#pragma once

#include <cstdint>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary {

// An epoch in which every way of dealing the samples out to the steps is equally likely: each global batch has exactly
// the law of a batch drawn without replacement from all samples in one place. Every sample once, in near-equal steps.
SamplingPlan PlanUniformGlobal(const SamplingProblem& problem, std::int64_t batch, Rng& rng);

}  // namespace tributary
