#include "tributary/policy/sampling/plan_measures.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace tributary::inline policy {

std::vector<double> StepDeviations(const SamplingPlan& plan, const LabelShares& shares) {
  std::vector<double> deviations;
  deviations.reserve(plan.steps());
  std::vector<double> mixture(shares.classes());
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    std::fill(mixture.begin(), mixture.end(), 0.0);
    double total = 0;
    for (const ClientBatch& batch : plan.step(step)) {
      total += batch.count;
      for (const auto& share : shares.of(batch.client)) mixture[share.label] += batch.count * share.share;
    }
    double deviation = 0;
    for (std::size_t label = 0; label < mixture.size(); ++label) {
      deviation += std::abs(mixture[label] / total - shares.overall()[label]);
    }
    deviations.push_back(deviation);
  }
  return deviations;
}

std::vector<double> StepDurations(const SamplingPlan& plan, const SamplingProblem& problem) {
  std::vector<double> times;
  times.reserve(plan.steps());
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    double slowest = 0;
    for (const ClientBatch& batch : plan.step(step))
      slowest = std::max(slowest, problem.DelayOf(batch.client));
    times.push_back(slowest);
  }
  return times;
}

double Mean(std::span<const double> values) {
  return values.empty()
             ? 0.0
             : std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

}  // namespace tributary::inline policy
