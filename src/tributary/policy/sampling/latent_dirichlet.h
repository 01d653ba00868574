#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// Draws samples one at a time without replacement; the probability of client k is proportional to
//   weight_k · (samples it has left)   kPerSample: with equal weights, uniform sampling without replacement
//   weight_k, while it has any         kPerClient
//
// Exact, in amortised constant time: an alias table of earlier probabilities proposes a client, which is
// accepted with the ratio of its current to its earlier probability. Rebuilt when half of the total is gone.
class ClientDraws {
 public:
  enum class Chance { kPerSample, kPerClient };

  ClientDraws(std::span<const std::int64_t> sizes, Chance chance)
      : left_(sizes.begin(), sizes.end()), chance_(chance), tabled_(sizes.size(), 0.0) {}

  // Call before the first draw; may be called again. Weights of clients with samples must be positive.
  void SetWeights(std::vector<double> weights);

  // Takes one sample, of which there must be one left; returns its client.
  std::uint32_t Take(Rng& rng);
  std::span<const std::int64_t> left() const { return left_; }

 private:
  double ChanceOf(std::size_t client) const;
  void MakeTable();

  std::vector<std::int64_t> left_;
  Chance chance_;
  std::vector<double> weights_;
  double sum_ = 0;  // of the current chances

  // Alias table over the clients that had samples when it was built.
  struct Slot {
    double threshold = 0;  // a uniform number below it selects `client`, otherwise `other`
    std::uint32_t client = 0;
    std::uint32_t other = 0;
  };
  std::vector<Slot> slots_;
  std::vector<double> tabled_;  // chances when the table was built
  double tabled_sum_ = 0;
};

// Finds the mixture of clients whose classes are most similar to a target, with a Dirichlet prior that
// favours chosen clients. Maximises
//   labels · Σ_class target · ln Σ_client π·share  +  Σ_client prior · ln π
// The prior is in pseudo-counts, so there is one maximum, however small they are.
struct MixtureProblem {
  const LabelShares* shares = nullptr;
  std::vector<double> target;  // per class; sums to one
  double labels = 0;           // number of labels observed with that composition
  std::vector<double> prior;   // per client; 0 excludes a client
};

// One EM step; never lowers the objective. Weights sum to one and are positive where the prior is.
std::vector<double> ImproveMixture(const MixtureProblem& problem, std::span<const double> weights);

// Iterates to convergence from `start`, weights as above.
std::vector<double> FitMixture(const MixtureProblem& problem, std::vector<double> start);

struct LatentDirichletOptions {
  // How strongly slow clients are favoured: 0 ignores delays; larger values concentrate slow clients' samples
  // in fewer steps and make batches less representative. Below zero, fast clients come first.
  double delta = 1;
  // Strength of the prior, which contains the delays, against the labels.
  double concentration = 1;
  // kPerSample is uniform global sampling at delta 0; kPerClient, as published, only until a client runs out.
  ClientDraws::Chance chance = ClientDraws::Chance::kPerSample;
};

// Trades the similarity of batches against waiting time. Samples are drawn one by one from a mixture of
// clients that is fitted to the remaining labels, with a prior that favours slow clients: their samples are
// used early, and later steps do not wait for them. The mixture is refitted when clients have run out, at
// most 100 times. Steps stay in drawing order. Every sample once, in near-equal steps.
SamplingPlan PlanLatentDirichlet(const SamplingProblem& problem, std::int64_t batch,
                                 const LatentDirichletOptions& options, Rng& rng);

// Each client's standardised delay (z-score) among clients with samples; zeros if delays are equal.
std::vector<double> StandardisedDelays(const SamplingProblem& problem);

}  // namespace tributary::inline policy
