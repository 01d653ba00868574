#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// Steps that wait for the same clients. All of a tier's steps take nearly the same from each client: deviation is a convex
// function of what a step takes, so nothing else has a smaller mean for what the tier takes in all.
struct Tier {
  std::size_t steps = 0;
  std::vector<std::int64_t> taken;  // of each client, over all steps; fills the steps exactly
};

// How an epoch is divided into tiers.
struct TierShape {
  // The share of a tier, in (0, 1], that is taken from the slowest clients in order; the rest brings its classes nearest to
  // those of all samples. Low makes batches alike, high makes slow tiers short.
  double purity = 1;
  // A tier is not meant to wait for clients whose delays differ by more: the fastest of them has at least this share of
  // the delay of the slowest.
  double band = 1;
  // Steps that a tier may have. Few follow the delays closely; many average over more clients.
  std::size_t longest = SIZE_MAX;
  // How much the rest of a tier favours slow clients over those whose labels serve, as latent Dirichlet sampling does: a
  // power of e for each standard deviation of delay. 0 for labels alone.
  double pull = 0;
  // Steps that a tier has at least, if the epoch has as many left.
  std::size_t shortest = 1;
};

// Tiers for an epoch of steps of the given sizes (the larger first), slowest first. `slowest_first` names each client
// that has samples. Every sample once.
std::vector<Tier> MakeTiers(const SamplingProblem& problem, const LabelShares& shares,
                            std::span<const std::uint32_t> slowest_first,
                            std::span<const std::int64_t> step_sizes, const TierShape& shape);

// What no plan with these tiers is below: the mean over steps if every step were like its whole tier.
double LeastDeviation(const std::vector<Tier>& tiers, const LabelShares& shares);

// The steps of all tiers, tier after tier. The samples of a tier are laid in a row, clients of like labels side by side,
// and step after step takes the next one in turn: each step gets the same number, within one, from every client and
// from every stretch of like clients. Which of like clients come first, and which step begins, is drawn.
SamplingPlan SpreadTiers(const std::vector<Tier>& tiers, const LabelShares& shares, Rng& rng);

// Looks for the shortest epoch whose mean deviation (StepDeviations) is at most `most_deviation`. A step takes as long
// as its slowest client, so slow clients' samples are put into as few steps as the bound allows: tiers of
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

}  // namespace tributary::inline policy
