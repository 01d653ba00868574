#include "fast_first_sampler.h"

#include <algorithm>
#include <numeric>
#include <vector>

tributary::SamplingPlan FastFirstSampler::Plan(const tributary::SamplingProblem& problem,
                                               const tributary::SamplerScene& scene) const {
  std::vector<std::uint32_t> fastest(problem.sizes.size());
  std::iota(fastest.begin(), fastest.end(), 0U);
  std::stable_sort(fastest.begin(), fastest.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return problem.DelayOf(a) < problem.DelayOf(b); });

  std::vector<std::int64_t> left = problem.sizes;
  std::vector<std::int64_t> step(left.size(), 0);
  std::int64_t in_step = 0;
  tributary::SamplingPlan plan;
  const auto end_step = [&] {
    for (std::uint32_t client = 0; client < step.size(); ++client) {  // in ascending order
      if (step[client] > 0) plan.Add(client, step[client]);
      step[client] = 0;
    }
    plan.EndStep();
    in_step = 0;
  };
  for (const std::uint32_t client : fastest) {
    while (left[client] > 0) {
      const std::int64_t taken = std::min(left[client], scene.batch - in_step);
      step[client] += taken;
      left[client] -= taken;
      in_step += taken;
      if (in_step == scene.batch) end_step();
    }
  }
  if (in_step > 0) end_step();
  return plan;
}
