#pragma once

#include <cstdint>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// Steps that wait for the same clients. All steps of a tier take nearly the same number of samples from each
// client: deviation is convex in the composition of a step, so this minimises its mean.
struct Tier {
  std::size_t steps = 0;
  std::vector<std::int64_t> taken;  // per client, over all steps; fills the steps exactly
};

// Distributes all tiers over their steps, tier after tier. The samples of a tier are sorted by label
// composition and dealt to the steps in turn: each step gets the same number, within one, from every client
// and from every range of similar clients. The order of similar clients and the first step are random.
SamplingPlan SpreadTiers(const std::vector<Tier>& tiers, const LabelShares& shares, Rng& rng);

// Searches for the shortest epoch whose mean deviation (StepDeviations) is at most `most_deviation`. A step
// takes as long as its slowest client, so slow clients' samples are concentrated in as few steps as the bound
// allows. Candidates are tiers of several shapes, each at the highest purity within the bound, and, up to a
// million samples, plans of latent Dirichlet sampling with the stream `dirichlet`, at the largest strength
// within the bound. A heuristic, not exact.
//
// Without labels there is no bound. If nothing is within the bound, returns the least deviation found.
//
// Slow steps come first, except in plans of latent Dirichlet sampling, whose steps stay in drawing order.
// Every sample once, in near-equal steps.
SamplingPlan PlanDeadline(const SamplingProblem& problem, std::int64_t batch, double most_deviation, Rng& rng,
                          const Rng& dirichlet);

}  // namespace tributary::inline policy
