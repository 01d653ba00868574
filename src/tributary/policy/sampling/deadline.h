#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// Steps that wait for the same clients. All steps of a tier take nearly the same number of samples from each
// client: deviation is convex in the composition of a step, so for a given composition of the tier this
// minimises the mean.
struct Tier {
  std::size_t steps = 0;
  std::vector<std::int64_t> taken;  // per client, over all steps; fills the steps exactly
};

// How an epoch is divided into tiers.
struct TierShape {
  // Fraction of a tier, in (0, 1], taken from the slowest clients in order; the rest brings its class shares
  // closest to those of all samples. Lower makes batches more alike, higher makes slow tiers shorter.
  double purity = 1;
  // The delay of a tier's fastest client should be at least this fraction of the delay of its slowest.
  double band = 1;
  // Maximum steps per tier. Fewer follow the delays closely; more average over more clients.
  std::size_t longest = SIZE_MAX;
  // How strongly the rest of a tier favours slow clients over clients with suitable labels, as in latent
  // Dirichlet sampling: exp(pull) per standard deviation of delay. 0: labels only.
  double pull = 0;
  // Minimum steps per tier, if the epoch has enough left.
  std::size_t shortest = 1;
};

// Divides an epoch with steps of the given sizes (largest first) into tiers, slowest first. `slowest_first`
// lists the clients that have samples. Uses every sample once.
std::vector<Tier> MakeTiers(const SamplingProblem& problem, const LabelShares& shares,
                            std::span<const std::uint32_t> slowest_first,
                            std::span<const std::int64_t> step_sizes, const TierShape& shape);

// A lower bound of any plan with these tiers: the mean deviation if every step were like its whole tier.
double LeastDeviation(const std::vector<Tier>& tiers, const LabelShares& shares);

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
// Without labels there is no bound. If no candidate is within the bound, returns the one with the least
// deviation.
//
// Slow steps come first, except in plans of latent Dirichlet sampling, whose steps stay in drawing order.
// Every sample once, in near-equal steps.
SamplingPlan PlanDeadline(const SamplingProblem& problem, std::int64_t batch, double most_deviation, Rng& rng,
                          const Rng& dirichlet);

}  // namespace tributary::inline policy
