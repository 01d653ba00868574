#include "tributary/policy/sampling/latent_dirichlet.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "tributary/base/check.h"
#include "tributary/base/portable_math.h"

namespace tributary::inline policy {
namespace {

std::vector<double> Composition(const MixtureProblem& problem, std::span<const double> weights) {
  std::vector<double> mixture(problem.target.size(), 0.0);
  for (std::size_t client = 0; client < weights.size(); ++client) {
    if (!(problem.prior[client] > 0)) continue;
    for (const auto& share : problem.shares->of(client))
      mixture[share.label] += weights[client] * share.share;
  }
  return mixture;
}

constexpr std::size_t kMostFits = 100;
constexpr double kLabelsSeen = 1000;
// exp(50) is beyond every useful trade-off, and products with it stay far from overflow and underflow.
constexpr double kLargestPull = 50;

class Fitter {
 public:
  Fitter(const SamplingProblem& problem, const LatentDirichletOptions& options)
      : options_(options), shares_(problem), pull_(StandardisedDelays(problem)) {
    for (double& pull : pull_)
      pull = PortableExp(std::clamp(options.delta * pull, -kLargestPull, kLargestPull));
  }

  // The weight of a draw of each client, given the samples left.
  std::vector<double> Weights(std::span<const std::int64_t> left) {
    std::vector<double> share(left.begin(), left.end());
    double total = 0;
    for (const double samples : share) total += samples;
    MixtureProblem mixture{&shares_, shares_.Pooled(share), std::min(kLabelsSeen, total / 2), {}};
    // The Dirichlet whose variance is that of a sample of that many labels; undefined for one or two samples.
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
  // Without pull, the shares are the maximum; otherwise the last fit is close to the next.
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

double ClientDraws::ChanceOf(std::size_t client) const {
  if (left_[client] == 0) return 0;
  return chance_ == Chance::kPerSample ? weights_[client] * static_cast<double>(left_[client])
                                       : weights_[client];
}

void ClientDraws::SetWeights(std::vector<double> weights) {
  TRIBUTARY_CHECK(weights.size() == left_.size());
  weights_ = std::move(weights);
  MakeTable();
}

// Vose's alias method: each slot holds a client below the mean, topped up by a client above it.
void ClientDraws::MakeTable() {
  slots_.clear();
  sum_ = 0;
  for (std::uint32_t client = 0; client < left_.size(); ++client) {
    tabled_[client] = ChanceOf(client);
    sum_ += tabled_[client];
    if (left_[client] > 0) slots_.push_back({1.0, client, client});
  }
  tabled_sum_ = sum_;
  TRIBUTARY_CHECK(slots_.empty() || sum_ > 0);
  const auto count = static_cast<double>(slots_.size());
  std::vector<double> scaled;
  std::vector<std::uint32_t> small, large;
  for (std::uint32_t i = 0; i < slots_.size(); ++i) {
    scaled.push_back(tabled_[slots_[i].client] / sum_ * count);
    (scaled[i] < 1 ? small : large).push_back(i);
  }
  while (!small.empty() && !large.empty()) {
    const std::uint32_t less = small.back(), more = large.back();
    small.pop_back();
    slots_[less].threshold = scaled[less];
    slots_[less].other = slots_[more].client;
    scaled[more] -= 1 - scaled[less];
    if (scaled[more] < 1) {
      large.pop_back();
      small.push_back(more);
    }
  }
}

std::uint32_t ClientDraws::Take(Rng& rng) {
  if (sum_ <= tabled_sum_ / 2) MakeTable();
  TRIBUTARY_CHECK(!slots_.empty());
  while (true) {
    const double place = rng.Uniform() * static_cast<double>(slots_.size());
    const auto index = static_cast<std::size_t>(place);
    const Slot& slot = slots_[index];
    const std::uint32_t client =
        place - static_cast<double>(index) < slot.threshold ? slot.client : slot.other;
    const double chance = ChanceOf(client);
    if (chance != tabled_[client] && !(rng.Uniform() * tabled_[client] < chance)) continue;
    --left_[client];
    sum_ -= chance - ChanceOf(client);
    return client;
  }
}

std::vector<double> ImproveMixture(const MixtureProblem& problem, std::span<const double> weights) {
  // E-step: the labels of a class are attributed to clients in proportion to their part of the mixture.
  std::vector<double> per_part = Composition(problem, weights);
  for (std::size_t label = 0; label < per_part.size(); ++label) {
    per_part[label] = per_part[label] > 0 ? problem.labels * problem.target[label] / per_part[label] : 0.0;
  }
  std::vector<double> improved(weights.size(), 0.0);
  double sum = 0;
  for (std::size_t client = 0; client < weights.size(); ++client) {
    if (!(problem.prior[client] > 0)) continue;
    double responsible = 0;
    for (const auto& share : problem.shares->of(client)) responsible += share.share * per_part[share.label];
    improved[client] = responsible * weights[client] + problem.prior[client];
    sum += improved[client];
  }
  for (double& weight : improved) weight /= sum;
  return improved;
}

std::vector<double> FitMixture(const MixtureProblem& problem, std::vector<double> start) {
  constexpr int kMostSteps = 500;
  constexpr double kStill = 1e-9;  // change of all weights in one step
  for (int step = 0; step < kMostSteps; ++step) {
    std::vector<double> next = ImproveMixture(problem, start);
    double moved = 0;
    for (std::size_t i = 0; i < next.size(); ++i) moved += std::abs(next[i] - start[i]);
    start = std::move(next);
    if (moved < kStill) break;
  }
  return start;
}

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
  // Rounding can make equal delays differ from their mean.
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

}  // namespace tributary::inline policy
