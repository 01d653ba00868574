#include "tributary/policy/sampling/deadline.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tributary/policy/sampling/sampling.h"
#include "tributary/policy/sampling/sampling_plan.h"
#include "tributary/policy/sampling/testing_problems.h"

namespace tributary::inline policy {
namespace {

double Total(const std::vector<double>& times) { return Mean(times) * static_cast<double>(times.size()); }

SamplingPlan Plan(const SamplingProblem& problem, SamplingMethod method, SamplingOptions options) {
  options.method = method;
  return PlanEpoch(problem, options, 0);
}

// No plan is shorter than all samples in order of delay, cut into steps: however the M slowest steps are chosen, they
// cannot hold more.
double ShortestTime(const SamplingProblem& problem, std::int64_t batch) {
  std::vector<double> delays;
  for (std::size_t i = 0; i < problem.sizes.size(); ++i) {
    delays.insert(delays.end(), static_cast<std::size_t>(problem.sizes[i]), problem.delays[i]);
  }
  std::sort(delays.begin(), delays.end(), std::greater<>());
  double time = 0;
  std::size_t first = 0;
  for (const std::int64_t size : StepSizes(TotalSamples(problem), batch)) {
    time += delays[first];
    first += static_cast<std::size_t>(size);
  }
  return time;
}

TEST(Deadline, WithoutLabelsIsAsShortAsCanBe) {
  Rng rng(6);
  for (int i = 0; i < 20; ++i) {
    SamplingProblem problem = RandomSamplingProblem(rng, 20, 2, 100, static_cast<DelayKind>(i % 3));
    problem.label_counts.clear();
    SamplingOptions options;
    options.batch = 40;
    EXPECT_NEAR(Total(StepDurations(Plan(problem, SamplingMethod::kDeadline, options), problem)),
                ShortestTime(problem, 40), 1e-9);
  }
}

TEST(Deadline, KeepsWithinUniformSamplingsDeviationAndATenthByDefault) {
  Rng rng(7);
  for (int i = 0; i < 20; ++i) {
    const SamplingProblem problem = RandomSamplingProblem(rng, 30, 5, 200, static_cast<DelayKind>(i % 3));
    SamplingOptions options;
    options.batch = 64;
    const LabelShares shares(problem);
    const SamplingPlan uniform = Plan(problem, SamplingMethod::kUniformGlobal, options);
    const SamplingPlan plan = Plan(problem, SamplingMethod::kDeadline, options);
    EXPECT_LE(Mean(StepDeviations(plan, shares)), 1.1 * Mean(StepDeviations(uniform, shares)));
    EXPECT_LE(Mean(StepDurations(plan, problem)), Mean(StepDurations(uniform, problem)));
  }
}

TEST(Deadline, IsOnOrBelowTheCurveOfLatentDirichletSampling) {
  Rng rng(8);
  double ratios = 0, compared = 0;
  for (int i = 0; i < 15; ++i) {
    const SamplingProblem problem =
        RandomSamplingProblem(rng, 8 + rng.Below(40), 2 + rng.Below(9), 400, static_cast<DelayKind>(i % 3));
    const LabelShares shares(problem);
    SamplingOptions options;
    options.seed = static_cast<std::uint64_t>(i);
    options.batch = static_cast<std::int64_t>(16 + rng.Below(150));
    for (const double delta : {0.0, 0.3, 0.5, 0.8, 1.0, 1.5, 2.2, 3.0, 5.0}) {
      options.delta = delta;
      const SamplingPlan dirichlet = Plan(problem, SamplingMethod::kLatentDirichlet, options);
      SamplingOptions bounded = options;
      bounded.max_deviation = Mean(StepDeviations(dirichlet, shares));
      const SamplingPlan plan = Plan(problem, SamplingMethod::kDeadline, bounded);
      const double time = Mean(StepDurations(plan, problem)),
                   of_dirichlet = Mean(StepDurations(dirichlet, problem));
      EXPECT_LE(Mean(StepDeviations(plan, shares)), *bounded.max_deviation + 1e-12)
          << i << ", delta " << delta;
      EXPECT_LE(time, of_dirichlet * (1 + 1e-9)) << i << ", delta " << delta;
      ratios += time / of_dirichlet;
      compared += 1;
    }
  }
  std::printf("deadline, time over that of lds at its deviation: %.3f on average\n", ratios / compared);
}

TEST(Deadline, GivesTheLeastDeviationWhereTheBoundCannotBeKept) {
  // Two clients of one class each and batches of three: no step can be half and half.
  const SamplingProblem problem{{6, 6}, {{6, 0}, {0, 6}}, {1, 10}};
  SamplingOptions options;
  options.batch = 3;
  options.max_deviation = 0;
  const SamplingPlan plan = Plan(problem, SamplingMethod::kDeadline, options);
  EXPECT_NEAR(Mean(StepDeviations(plan, LabelShares(problem))), 1.0 / 3, 1e-12);
}

TEST(Tiers, EachStepTakesTheSameFromEveryClientWithinOne) {
  Rng rng(9);
  const SamplingProblem problem = RandomSamplingProblem(rng, 25, 4, 300, DelayKind::kLevels);
  const LabelShares shares(problem);
  const Tier tier{17, problem.sizes};
  const SamplingPlan plan = SpreadTiers({tier}, shares, rng);
  ASSERT_EQ(plan.steps(), 17U);
  for (std::size_t step = 0; step < plan.steps(); ++step) {
    std::vector<std::int64_t> counts(problem.sizes.size(), 0);
    for (const ClientBatch& batch : plan.step(step)) counts[batch.client] = batch.count;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      EXPECT_GE(counts[i], problem.sizes[i] / 17);
      EXPECT_LE(counts[i], (problem.sizes[i] + 16) / 17);
    }
  }
}

}  // namespace
}  // namespace tributary::inline policy
