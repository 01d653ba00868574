#pragma once

#include <cstdint>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/client_draws.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary {

struct LatentDirichletOptions {
  // How much more often slow clients are drawn: 0 ignores delays, more spends slow clients' samples in fewer steps and
  // makes batches less like the whole. Below zero, fast clients come first.
  double delta = 1;
  // Of the prior: more trusts it, and with it the delays, over the labels.
  double concentration = 1;
  // kPerSample is uniform global sampling at delta 0; kPerClient, as published, is so until the first client runs out.
  ClientDraws::Chance chance = ClientDraws::Chance::kPerSample;
};

// Trades how alike batches are against how long steps wait. Samples are drawn one after the other, from a mixture of the
// clients that is fitted to the labels of what is left, under a prior that favours slow clients: they are spent early, and
// later steps do not wait for them. The mixture is fitted anew when clients have run out, at most 100 times. Steps come
// in the order in which they were drawn. Every sample once, in near-equal steps.
SamplingPlan PlanLatentDirichlet(const SamplingProblem& problem, std::int64_t batch,
                                 const LatentDirichletOptions& options, Rng& rng);

// Each client's delay less their mean, in standard deviations, over the clients that have samples; zeros if delays do
// not differ.
std::vector<double> StandardisedDelays(const SamplingProblem& problem);

}  // namespace tributary
