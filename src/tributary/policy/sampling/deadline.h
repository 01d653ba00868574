#pragma once

#include <cstdint>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary {

// Looks for the shortest epoch whose mean deviation (plan_measures.h) is at most `most_deviation`. A step takes as long
// as its slowest client, so slow clients' samples are put into as few steps as the bound allows (tiers.h): tiers of
// several shapes, each at the highest purity that keeps within the bound; up to a million samples also plans of latent
// Dirichlet sampling with the stream `dirichlet`, at the strength that uses up the bound. A search and not exact.
//
// Where labels are not known nothing bounds it. Where nothing found keeps within the bound, it is the plan with the least
// deviation found.
//
// Slow steps come first, but for a plan of latent Dirichlet sampling, whose steps come as drawn. Every sample once, in
// near-equal steps.
SamplingPlan PlanDeadline(const SamplingProblem& problem, std::int64_t batch, double most_deviation, Rng& rng,
                          const Rng& dirichlet);

}  // namespace tributary
