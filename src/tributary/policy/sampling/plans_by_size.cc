#include "tributary/policy/sampling/plans_by_size.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "tributary/base/distributions.h"

namespace tributary::inline policy {
namespace {

std::int64_t AtLeastOne(double batch) { return std::max<std::int64_t>(1, std::llround(batch)); }

// A uniformly random order, as Shuffle makes, without its jumps through memory: every item goes to a pile that is drawn for
// it, and each pile, which fits into a cache, is shuffled (Rao and Sandelius).
std::vector<std::uint32_t> ShuffledInPiles(const std::vector<std::uint32_t>& items, Rng& rng) {
  constexpr std::size_t kPiles = 256;
  std::vector<std::uint8_t> pile(items.size());
  std::size_t ends[kPiles] = {};
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < items.size(); ++i) {
    bits = i % 8 == 0 ? rng.Next() : bits >> 8;
    pile[i] = static_cast<std::uint8_t>(bits & 0xff);
    ++ends[pile[i]];
  }
  std::size_t next[kPiles] = {};
  for (std::size_t i = 1; i < kPiles; ++i) {
    next[i] = ends[i - 1];
    ends[i] += ends[i - 1];
  }
  std::vector<std::uint32_t> shuffled(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) shuffled[next[pile[i]]++] = items[i];
  for (std::size_t i = 0; i < kPiles; ++i) {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    Shuffle(rng, std::span(shuffled).subspan(begin, ends[i] - begin));
  }
  return shuffled;
}

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

SamplingPlan PlanUniformGlobal(const SamplingProblem& problem, std::int64_t batch, Rng& rng) {
  const std::vector<std::int64_t> step_sizes = StepSizes(TotalSamples(problem), batch);
  // Shuffling the steps' numbers over the samples, and not the clients' over the steps, leaves the clients of each step
  // in order: nothing needs to be sorted.
  std::vector<std::uint32_t> step_of_sample;
  step_of_sample.reserve(static_cast<std::size_t>(TotalSamples(problem)));
  for (std::uint32_t step = 0; step < step_sizes.size(); ++step) {
    step_of_sample.insert(step_of_sample.end(), static_cast<std::size_t>(step_sizes[step]), step);
  }
  return PlanFromSteps(problem.sizes, ShuffledInPiles(step_of_sample, rng), step_sizes.size());
}

}  // namespace tributary::inline policy
