#include "tributary/policy/sampling/latent_dirichlet.h"

#include <algorithm>
#include <cmath>

#include "tributary/base/portable_math.h"
#include "tributary/policy/sampling/label_shares.h"
#include "tributary/policy/sampling/mixture.h"

namespace tributary {
namespace {

constexpr std::size_t kMostFits = 100;
constexpr double kLabelsSeen = 1000;
// exp(50) is past every trade-off, and what it multiplies stays far from overflow and underflow.
constexpr double kLargestPull = 50;

class Fitter {
 public:
  Fitter(const SamplingProblem& problem, const LatentDirichletOptions& options)
      : options_(options), shares_(problem), pull_(StandardisedDelays(problem)) {
    for (double& pull : pull_)
      pull = PortableExp(std::clamp(options.delta * pull, -kLargestPull, kLargestPull));
  }

  // What a draw of each client weighs, given what all have left.
  std::vector<double> Weights(std::span<const std::int64_t> left) {
    std::vector<double> share(left.begin(), left.end());
    double total = 0;
    for (const double samples : share) total += samples;
    MixtureProblem mixture{&shares_, shares_.Pooled(share), std::min(kLabelsSeen, total / 2), {}};
    // The Dirichlet whose variance is that of a sample of as many labels. One or two samples have none.
    const double seen = mixture.labels;
    const double strength = std::max(1.0, seen * (total - 1) / (total - seen) - 1);
    for (std::size_t i = 0; i < share.size(); ++i) {
      share[i] /= total;
      mixture.prior.push_back(options_.concentration * share[i] * strength * pull_[i]);
    }
    std::vector<double> weights = FitMixture(mixture, Start(share));
    fitted_ = weights;
    if (options_.chance == ClientDraws::Chance::kPerSample) {
      for (std::size_t i = 0; i < weights.size(); ++i)
        weights[i] = share[i] > 0 ? weights[i] / share[i] : 0.0;
    }
    return weights;
  }

 private:
  // Without pulls the shares themselves are the maximum; otherwise the last fit is near the next.
  std::vector<double> Start(const std::vector<double>& share) const {
    if (fitted_.empty() || options_.delta == 0) return share;
    std::vector<double> start(share.size(), 0.0);
    double sum = 0;
    for (std::size_t i = 0; i < share.size(); ++i) {
      if (share[i] > 0) sum += start[i] = fitted_[i];
    }
    for (double& weight : start) weight /= sum;
    return start;
  }

  LatentDirichletOptions options_;
  LabelShares shares_;
  std::vector<double> pull_;
  std::vector<double> fitted_;
};

}  // namespace

std::vector<double> StandardisedDelays(const SamplingProblem& problem) {
  double count = 0, sum = 0, squares = 0;
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    if (problem.sizes[i] == 0) continue;
    count += 1;
    sum += problem.DelayOf(i);
  }
  const double mean = sum / count;
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    const double off = problem.DelayOf(i) - mean;
    if (problem.sizes[i] > 0) squares += off * off;
  }
  const double deviation = std::sqrt(squares / count);
  std::vector<double> standardised(problem.sizes.size(), 0.0);
  // Equal delays may differ from their mean by its rounding.
  if (!(deviation > 1e-12 * mean)) return standardised;
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    if (problem.sizes[i] > 0) standardised[i] = (problem.DelayOf(i) - mean) / deviation;
  }
  return standardised;
}

SamplingPlan PlanLatentDirichlet(const SamplingProblem& problem, std::int64_t batch,
                                 const LatentDirichletOptions& options, Rng& rng) {
  ClientDraws draws(problem.sizes, options.chance);
  Fitter fitter(problem, options);
  draws.SetWeights(fitter.Weights(draws.left()));
  const auto holders = static_cast<std::size_t>(
      std::count_if(problem.sizes.begin(), problem.sizes.end(), [](std::int64_t size) { return size > 0; }));
  const std::size_t emptied_per_fit = (holders + kMostFits - 1) / kMostFits;
  std::size_t emptied = 0;
  SamplingPlan plan;
  std::vector<std::uint32_t> step;
  for (const std::int64_t size : StepSizes(TotalSamples(problem), batch)) {
    step.clear();
    for (std::int64_t i = 0; i < size; ++i) {
      const std::uint32_t client = draws.Take(rng);
      step.push_back(client);
      if (draws.left()[client] > 0 || ++emptied % emptied_per_fit != 0 || emptied == holders) continue;
      draws.SetWeights(fitter.Weights(draws.left()));
    }
    plan.AddStep(step);
  }
  return plan;
}

}  // namespace tributary
