#include "tributary/policy/sampling/mixture.h"

#include <cmath>

#include "tributary/base/portable_math.h"

namespace tributary {
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

}  // namespace

double MixtureObjective(const MixtureProblem& problem, std::span<const double> weights) {
  const std::vector<double> mixture = Composition(problem, weights);
  double objective = 0;
  for (std::size_t label = 0; label < mixture.size(); ++label) {
    if (problem.target[label] > 0)
      objective += problem.labels * problem.target[label] * PortableLog(mixture[label]);
  }
  for (std::size_t client = 0; client < weights.size(); ++client) {
    if (problem.prior[client] > 0) objective += problem.prior[client] * PortableLog(weights[client]);
  }
  return objective;
}

std::vector<double> ImproveMixture(const MixtureProblem& problem, std::span<const double> weights) {
  // A class's labels are shared out among the clients by what each has given to the mixture.
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
  constexpr double kStill = 1e-9;  // of all weight, moved in one step
  for (int step = 0; step < kMostSteps; ++step) {
    std::vector<double> next = ImproveMixture(problem, start);
    double moved = 0;
    for (std::size_t i = 0; i < next.size(); ++i) moved += std::abs(next[i] - start[i]);
    start = std::move(next);
    if (moved < kStill) break;
  }
  return start;
}

}  // namespace tributary
