#include "tributary/fleet/step_plan.h"

#include <gtest/gtest.h>

#include "tributary/base/distributions.h"
#include "tributary/base/rng.h"

namespace tributary::inline fleet {
namespace {

std::shared_ptr<const std::vector<std::int64_t>> Bytes() {
  return std::make_shared<const std::vector<std::int64_t>>(
      std::vector<std::int64_t>{40'000, 200'000, 800'000, 1'600'000, 3'200'000, 400'000});
}

StepCosts Costs(double setup, double per_byte) {
  return {.forward = {0.020, 0.030, 0.030, 0.020, 0.010, 0.001},
          .backward = {0.040, 0.060, 0.060, 0.040, 0.020, 0.002},
          .pull_setup = setup,
          .push_setup = setup,
          .pull_per_byte = per_byte,
          .push_per_byte = per_byte};
}

// How long a plan takes when these are the true costs.
double Takes(const StepPlan& plan, const StepCosts& costs) {
  const TransferProfile profile = StepPlanner({}, Bytes(), costs).Profile();
  return 1e-3 * (FinishTime(profile.Forward(), plan.pull) + FinishTime(profile.Backward(), plan.push)) +
         costs.between;
}

// What a device would see of a step, with some noise on every transfer.
StepObservation Step(const StepPlan& plan, const StepCosts& costs, Rng& rng) {
  StepObservation seen;
  const auto bytes = Bytes();
  const auto moves = [&](const TransferPlan& segments, double setup, double per_byte, auto& out) {
    for (const LayerRun& run : segments) {
      double size = 0;
      for (std::size_t unit = run.first; unit <= run.last; ++unit)
        size += static_cast<double>((*bytes)[unit]);
      out.push_back({1, size, (setup + size * per_byte) * (1 + 0.02 * Normal(rng))});
    }
  };
  moves(plan.pull, costs.pull_setup, costs.pull_per_byte, seen.pulls);
  moves(plan.push, costs.push_setup, costs.push_per_byte, seen.pushes);
  seen.forward = costs.forward;
  seen.backward = costs.backward;
  seen.between = costs.between;
  seen.seconds = Takes(plan, costs) * (1 + 0.01 * Normal(rng));
  return seen;
}

TEST(LinkEstimate, TellsSetUpAndRateApart) {
  Rng rng(1);
  LinkEstimate link(0.5, 1e-3);  // A guess that is far off.
  for (int step = 0; step < 10; ++step) {
    link.Fade();
    for (const double bytes : {1e4, 1e5, 3e5, 1e6}) {
      link.Observe(1, bytes, 0.004 + 2e-8 * bytes + 1e-4 * Normal(rng));
    }
  }
  EXPECT_NEAR(link.setup(), 0.004, 0.0004);
  EXPECT_NEAR(link.per_byte(), 2e-8, 1e-9);
}

TEST(LinkEstimate, KeepsItsGuessOfWhatItCannotSee) {
  LinkEstimate link(0.003, 1e-6);
  for (int step = 0; step < 10; ++step) link.Observe(0, 1e6, 0.02);
  EXPECT_NEAR(link.per_byte(), 2e-8, 1e-10);
  EXPECT_NEAR(link.setup(), 0.003, 1e-7);
}

TEST(LinkEstimate, IsNeverNegative) {
  Rng rng(2);
  for (int i = 0; i < 1000; ++i) {
    LinkEstimate link(1e-4, 1e-8);
    for (int j = 0; j < 5; ++j) link.Observe(rng.Uniform() < 0.5 ? 0 : 1, 1e6 * rng.Uniform(), rng.Uniform());
    EXPECT_GE(link.setup(), 0);
    EXPECT_GE(link.per_byte(), 0);
  }
}

TEST(StepPlanner, PlansFromTheFirstCosts) {
  const StepCosts costs = Costs(0.002, 2e-8);
  for (const TransferStrategy strategy : kTransferStrategies) {
    const StepPlanner planner({.strategy = strategy}, Bytes(), costs);
    EXPECT_EQ(planner.plan().pull, PlanTransfers(strategy, planner.Profile().Forward()));
    EXPECT_EQ(planner.plan().push, PlanTransfers(strategy, planner.Profile().Backward()));
    EXPECT_NEAR(planner.plan().predicted, Takes(planner.plan(), costs), 1e-12);
  }
}

TEST(StepPlanner, LeavesAPlanThatHoldsAlone) {
  Rng rng(3);
  const StepCosts costs = Costs(0.002, 2e-8);
  StepPlanner planner({.strategy = TransferStrategy::kOptimal}, Bytes(), costs);
  for (int step = 0; step < 100; ++step) EXPECT_FALSE(planner.Observe(Step(planner.plan(), costs, rng)));
}

TEST(StepPlanner, PlansAnewWhenTheLinkChanges) {
  Rng rng(4);
  StepCosts costs = Costs(0.002, 2e-8);
  StepPlanner planner({.strategy = TransferStrategy::kOptimal}, Bytes(), costs);
  costs.pull_per_byte *= 2;
  costs.push_per_byte *= 2;
  const StepPlanner knowing({.strategy = TransferStrategy::kOptimal}, Bytes(), costs);
  EXPECT_GT(Takes(planner.plan(), costs), 1.03 * knowing.plan().predicted) << "the test shows nothing";
  int replanned = 0;
  for (int step = 0; step < 10; ++step)
    replanned += planner.Observe(Step(planner.plan(), costs, rng)) ? 1 : 0;
  EXPECT_GE(replanned, 1);
  EXPECT_LE(Takes(planner.plan(), costs), 1.01 * knowing.plan().predicted);
  EXPECT_NEAR(planner.plan().predicted, knowing.plan().predicted, 0.05 * knowing.plan().predicted);
}

TEST(StepPlanner, FollowsTheProcessorToo) {
  Rng rng(5);
  StepCosts costs = Costs(0.004, 4e-8);
  StepPlanner planner({.strategy = TransferStrategy::kOptimal}, Bytes(), costs);
  for (double& time : costs.forward) time *= 4;
  for (double& time : costs.backward) time *= 4;
  costs.between = 0.5;
  const StepPlanner knowing({.strategy = TransferStrategy::kOptimal}, Bytes(), costs);
  for (int step = 0; step < 20; ++step) planner.Observe(Step(planner.plan(), costs, rng));
  EXPECT_LE(Takes(planner.plan(), costs), 1.01 * knowing.plan().predicted);
}

TEST(StepPlanner, KeepsTheBound) {
  const StepPlanner planner({.strategy = TransferStrategy::kSequential, .largest_segment = 1'000'000},
                            Bytes(), Costs(0.002, 2e-8));
  EXPECT_GT(planner.plan().pull.size(), 1);
  for (const LayerRun& run : planner.plan().pull) {
    std::int64_t bytes = 0;
    for (std::size_t unit = run.first; unit <= run.last; ++unit) bytes += (*Bytes())[unit];
    EXPECT_TRUE(bytes <= 1'000'000 || run.first == run.last);
  }
}

}  // namespace
}  // namespace tributary::inline fleet
