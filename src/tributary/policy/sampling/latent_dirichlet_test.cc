#include "tributary/policy/sampling/latent_dirichlet.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tributary/policy/sampling/testing_problems.h"

namespace tributary::inline policy {
namespace {

MixtureProblem RandomMixture(Rng& rng, const LabelShares& shares, const SamplingProblem& problem) {
  MixtureProblem mixture{&shares, shares.overall(), Uniform(rng, 1, 1000), {}};
  for (const std::int64_t size : problem.sizes)
    mixture.prior.push_back(size > 0 ? Uniform(rng, 0.01, 50) : 0.0);
  return mixture;
}

std::vector<double> RandomStart(Rng& rng, const MixtureProblem& mixture) {
  std::vector<double> start;
  double sum = 0;
  for (const double prior : mixture.prior) {
    start.push_back(prior > 0 ? Uniform(rng, 0.01, 1) : 0.0);
    sum += start.back();
  }
  for (double& weight : start) weight /= sum;
  return start;
}

// What ImproveMixture makes large.
double MixtureObjective(const MixtureProblem& problem, std::span<const double> weights) {
  std::vector<double> mixture(problem.target.size(), 0.0);
  double objective = 0;
  for (std::size_t client = 0; client < weights.size(); ++client) {
    if (!(problem.prior[client] > 0)) continue;
    objective += problem.prior[client] * std::log(weights[client]);
    for (const auto& share : problem.shares->of(client))
      mixture[share.label] += weights[client] * share.share;
  }
  for (std::size_t label = 0; label < mixture.size(); ++label) {
    if (problem.target[label] > 0)
      objective += problem.labels * problem.target[label] * std::log(mixture[label]);
  }
  return objective;
}

TEST(Mixture, ImprovingNeverLowersTheObjective) {
  Rng rng(2);
  for (int i = 0; i < 100; ++i) {
    const SamplingProblem problem =
        RandomSamplingProblem(rng, 2 + rng.Below(30), 2 + rng.Below(8), 100, DelayKind::kLevels);
    const LabelShares shares(problem);
    const MixtureProblem mixture = RandomMixture(rng, shares, problem);
    std::vector<double> weights = RandomStart(rng, mixture);
    double objective = MixtureObjective(mixture, weights);
    for (int step = 0; step < 40; ++step) {
      weights = ImproveMixture(mixture, weights);
      const double next = MixtureObjective(mixture, weights);
      ASSERT_GE(next, objective - 1e-12 * std::abs(objective));
      objective = next;
    }
  }
}

TEST(Mixture, MatchesASearchOverAGrid) {
  Rng rng(3);
  constexpr int kCells = 200;
  for (int i = 0; i < 20; ++i) {
    SamplingProblem problem;
    for (int client = 0; client < 3; ++client) {
      problem.label_counts.push_back({});
      problem.sizes.push_back(0);
      for (int label = 0; label < 3; ++label) {
        problem.label_counts.back().push_back(static_cast<std::int64_t>(1 + rng.Below(60)));
        problem.sizes.back() += problem.label_counts.back().back();
      }
    }
    const LabelShares shares(problem);
    const MixtureProblem mixture = RandomMixture(rng, shares, problem);
    const std::vector<double> fitted = FitMixture(mixture, RandomStart(rng, mixture));
    double best = -1e300;
    std::vector<double> best_weights;
    for (int a = 1; a < kCells; ++a) {
      for (int b = 1; a + b < kCells; ++b) {
        const std::vector<double> weights = {a / double{kCells}, b / double{kCells},
                                             (kCells - a - b) / double{kCells}};
        const double objective = MixtureObjective(mixture, weights);
        if (objective > best) {
          best = objective;
          best_weights = weights;
        }
      }
    }
    EXPECT_GE(MixtureObjective(mixture, fitted), best - 1e-6 * std::abs(best));
    // The objective is flat where clients are alike, so the weights are held to a few cells.
    for (int k = 0; k < 3; ++k) EXPECT_NEAR(fitted[k], best_weights[k], 4.0 / kCells);
  }
}

TEST(Mixture, APriorInProportionToSizesGivesTheSizes) {
  Rng rng(4);
  const SamplingProblem problem = RandomSamplingProblem(rng, 20, 5, 100, DelayKind::kLevels);
  const LabelShares shares(problem);
  const auto total = static_cast<double>(TotalSamples(problem));
  MixtureProblem mixture{&shares, shares.overall(), 500, {}};
  for (const std::int64_t size : problem.sizes)
    mixture.prior.push_back(400 * static_cast<double>(size) / total);
  const std::vector<double> fitted = FitMixture(mixture, RandomStart(rng, mixture));
  for (std::size_t i = 0; i < fitted.size(); ++i) {
    EXPECT_NEAR(fitted[i], static_cast<double>(problem.sizes[i]) / total, 1e-7);
  }
}

}  // namespace

}  // namespace tributary::inline policy
