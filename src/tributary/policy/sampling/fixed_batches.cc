#include "tributary/policy/sampling/fixed_batches.h"

#include <algorithm>
#include <cmath>

namespace tributary {
namespace {

std::int64_t AtLeastOne(double batch) { return std::max<std::int64_t>(1, std::llround(batch)); }

}  // namespace

std::vector<std::int64_t> EqualBatches(const SamplingProblem& problem, std::int64_t batch) {
  const double share = static_cast<double>(batch) / static_cast<double>(problem.sizes.size());
  return std::vector<std::int64_t>(problem.sizes.size(), AtLeastOne(share));
}

std::vector<std::int64_t> ProportionalBatches(const SamplingProblem& problem, std::int64_t batch) {
  const auto total = static_cast<double>(TotalSamples(problem));
  std::vector<std::int64_t> batches;
  for (const std::int64_t size : problem.sizes) {
    batches.push_back(AtLeastOne(static_cast<double>(batch) * static_cast<double>(size) / total));
  }
  return batches;
}

std::int64_t FixedSteps(const SamplingProblem& problem, const std::vector<std::int64_t>& batches) {
  std::int64_t steps = 0;
  for (std::size_t i = 0; i < batches.size(); ++i) {
    if (problem.sizes[i] > 0) steps = std::max(steps, (problem.sizes[i] - 1) / batches[i] + 1);
  }
  return steps;
}

SamplingPlan PlanFixed(const SamplingProblem& problem, const std::vector<std::int64_t>& batches) {
  // Only the clients that are not empty yet are looked at, so that the work is what the plan holds.
  std::vector<std::uint32_t> active;
  for (std::uint32_t client = 0; client < batches.size(); ++client) {
    if (problem.sizes[client] > 0) active.push_back(client);
  }
  std::vector<std::int64_t> left = problem.sizes;
  SamplingPlan plan;
  while (!active.empty()) {
    for (const std::uint32_t client : active) {
      const std::int64_t count = std::min(batches[client], left[client]);
      plan.Add(client, count);
      left[client] -= count;
    }
    plan.EndStep();
    std::erase_if(active, [&](std::uint32_t client) { return left[client] == 0; });
  }
  return plan;
}

std::int64_t SequentialSteps(const SamplingProblem& problem, std::int64_t batch) {
  std::int64_t steps = 0;
  for (const std::int64_t size : problem.sizes) steps += size > 0 ? (size - 1) / batch + 1 : 0;
  return steps;
}

SamplingPlan PlanSequential(const SamplingProblem& problem, std::int64_t batch) {
  SamplingPlan plan;
  for (std::uint32_t client = 0; client < problem.sizes.size(); ++client) {
    for (std::int64_t left = problem.sizes[client]; left > 0; left -= std::min(left, batch)) {
      plan.Add(client, std::min(left, batch));
      plan.EndStep();
    }
  }
  return plan;
}

}  // namespace tributary
