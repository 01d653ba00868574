#include "tributary/policy/sampling/sampler.h"

#include <string>
#include <vector>

namespace tributary::inline policy {

Status CheckSamplingPlan(const SamplingProblem& problem, const SamplingPlan& plan) {
  if (plan.steps() == 0) return InvalidArgument("the plan of an epoch has no steps");
  std::vector<std::int64_t> left = problem.sizes;
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    const auto refuse = [&](const std::string& why) {
      return InvalidArgument("step " + std::to_string(step + 1) + " of the plan of an epoch " + why);
    };
    const std::span<const ClientBatch> batches = plan.step(step);
    if (batches.empty()) return refuse("has no samples");
    for (std::size_t i = 0; i < batches.size(); ++i) {
      const std::string client = "client " + std::to_string(batches[i].client);
      if (batches[i].client >= left.size())
        return refuse("names " + client + " of " + std::to_string(left.size()));
      if (batches[i].count == 0)
        return refuse("takes nothing from " + client + ", who is to be left out then");
      if (i > 0 && batches[i].client <= batches[i - 1].client) {
        return refuse("has " + client + " behind client " + std::to_string(batches[i - 1].client) +
                      "; clients are in ascending order, each once");
      }
      left[batches[i].client] -= batches[i].count;
      if (left[batches[i].client] < 0) {
        return refuse("takes more from " + client + " than the " +
                      std::to_string(problem.sizes[batches[i].client]) + " samples it has");
      }
    }
  }
  return OkStatus();
}

}  // namespace tributary::inline policy
