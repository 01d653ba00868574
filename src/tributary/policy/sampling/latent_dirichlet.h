#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tributary/base/rng.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/sampling_problem.h"

namespace tributary::inline policy {

// Takes samples one at a time from clients that run out, each time from client k with a chance in proportion to
//   weight_k · (samples it has left)   kPerSample: with equal weights, uniform sampling without replacement
//   weight_k, while it has any         kPerClient
//
// Exact, and constant time on average: an alias table of the chances as they once were proposes a client, which is
// accepted by what is left of its chance; the table is made anew when half of all chance is gone.
class ClientDraws {
 public:
  enum class Chance { kPerSample, kPerClient };

  ClientDraws(std::span<const std::int64_t> sizes, Chance chance)
      : left_(sizes.begin(), sizes.end()), chance_(chance), tabled_(sizes.size(), 0.0) {}

  // Positive for each client that has samples left. To be called before the first draw, and as often as wanted.
  void SetWeights(std::vector<double> weights);

  // Takes one sample; there must be one left. Tells whose.
  std::uint32_t Take(Rng& rng);

  std::span<const std::int64_t> left() const { return left_; }

 private:
  double ChanceOf(std::size_t client) const;
  void MakeTable();

  std::vector<std::int64_t> left_;
  Chance chance_;
  std::vector<double> weights_;
  double sum_ = 0;  // of all chances now

  // Of the clients that had samples when the table was made:
  struct Slot {
    double threshold = 0;  // of a uniform number: below it this slot's client, from it on the other
    std::uint32_t client = 0;
    std::uint32_t other = 0;
  };
  std::vector<Slot> slots_;
  std::vector<double> tabled_;  // the chance of each client then
  double tabled_sum_ = 0;
};

// Which shares of the clients in a mixture make its classes most like given ones, with a Dirichlet prior that pulls
// towards chosen clients. What is made large is
//   labels · Σ_class target · ln Σ_client π·share  +  Σ_client prior · ln π,
// the prior being pseudo-counts: it is defined, and has one maximum, however small they are.
struct MixtureProblem {
  const LabelShares* shares = nullptr;
  std::vector<double> target;  // of the classes; adds up to one
  double labels = 0;           // how many labels of that composition were seen
  std::vector<double> prior;   // of the clients; 0 leaves a client out
};

// One step of expectation-maximisation; never lowers the objective. Weights add up to one and are positive where the
// prior is.
std::vector<double> ImproveMixture(const MixtureProblem& problem, std::span<const double> weights);

// Steps until the weights stand still. `start` as above.
std::vector<double> FitMixture(const MixtureProblem& problem, std::vector<double> start);

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

}  // namespace tributary::inline policy
