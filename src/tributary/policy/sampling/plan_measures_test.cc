#include <gtest/gtest.h>

#include <cmath>

#include "tributary/policy/sampling/sampling.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/testing_problems.h"

namespace tributary::inline policy {
namespace {

TEST(PlanMeasures, ByHand) {
  const SamplingProblem problem{{4, 4}, {{4, 0}, {1, 3}}, {2, 7}};
  SamplingPlan plan;
  plan.Add(0, 2);
  plan.EndStep();
  plan.Add(0, 2);
  plan.Add(1, 4);
  plan.EndStep();
  // Overall 5/8 and 3/8. The first step has 1 and 0, the second 3/6 and 3/6.
  const std::vector<double> deviations = StepDeviations(plan, LabelShares(problem));
  EXPECT_NEAR(deviations[0], 0.75, 1e-12);
  EXPECT_NEAR(deviations[1], 0.25, 1e-12);
  EXPECT_EQ(StepDurations(plan, problem), (std::vector<double>{2, 7}));
  EXPECT_EQ(StepDurations(plan, {{4, 4}, {}, {}}), (std::vector<double>{1, 1}));
}

TEST(PlanMeasures, EqualTheirDefinitionsOverAllClientsAndClasses) {
  Rng rng(5);
  for (int i = 0; i < 20; ++i) {
    const SamplingProblem problem = RandomSamplingProblem(rng, 15, 4, 60, DelayKind::kExponential);
    SamplingOptions options;
    options.batch = 20;
    const SamplingPlan plan = PlanEpoch(problem, options, 0);
    const std::vector<double> deviations = StepDeviations(plan, LabelShares(problem));
    const std::vector<double> times = StepDurations(plan, problem);
    for (std::size_t step = 0; step < plan.steps(); ++step) {
      double deviation = 0, slowest = 0, size = 0;
      for (const ClientBatch& batch : plan.step(step)) {
        size += batch.count;
        slowest = std::max(slowest, problem.delays[batch.client]);
      }
      for (std::size_t label = 0; label < 4; ++label) {
        double in_batch = 0, overall = 0;
        for (const ClientBatch& batch : plan.step(step)) {
          in_batch += batch.count * static_cast<double>(problem.label_counts[batch.client][label]) /
                      static_cast<double>(problem.sizes[batch.client]);
        }
        for (const auto& counts : problem.label_counts) overall += static_cast<double>(counts[label]);
        deviation += std::abs(in_batch / size - overall / static_cast<double>(TotalSamples(problem)));
      }
      EXPECT_NEAR(deviations[step], deviation, 1e-12);
      EXPECT_EQ(times[step], slowest);
    }
  }
}

}  // namespace
}  // namespace tributary::inline policy
