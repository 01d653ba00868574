#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tributary/base/distributions.h"
#include "tributary/policy/dropout/cost_model.h"

namespace tributary::inline policy {
namespace {

constexpr CostModel kElsewhere{2e-3, 1e-10, 1e-9};
constexpr CostModel kHere{1e-3, 4e-10, 5e-10};

CostFeatures SomeStep(Rng& rng) {
  const double share = Uniform(rng, 0.05, 1);
  return {share * 1e8, (0.3 + 0.7 * share) * Uniform(rng, 0.9, 1.1) * 4e6};
}

double WorstError(const CostModel& model, const CostModel& truth, Rng rng) {
  double worst = 0;
  for (int i = 0; i < 50; ++i) {
    const CostFeatures step = SomeStep(rng);
    worst = std::max(worst, std::abs(model.Seconds(step) / truth.Seconds(step) - 1));
  }
  return worst;
}

TEST(LiveCost, IsAtFirstWhatIsKnownInTheProportionOfWhatIsSeen) {
  LiveCost cost(kElsewhere);
  EXPECT_EQ(cost.model().per_mac, kElsewhere.per_mac);
  Rng rng(1);
  for (int i = 0; i < 5; ++i) {
    const CostFeatures step = SomeStep(rng);
    cost.Observe({step, 3 * kElsewhere.Seconds(step)});
  }
  EXPECT_LT(
      WorstError(cost.model(), {3 * kElsewhere.fixed, 3 * kElsewhere.per_mac, 3 * kElsewhere.per_byte}, rng),
      1e-9);
}

TEST(LiveCost, LearnsAModelOfItsOwnAndFollowsChanges) {
  LiveCost cost(kElsewhere);
  Rng rng(2);
  const auto see = [&](const CostModel& truth, int times) {
    for (int i = 0; i < times; ++i) {
      const CostFeatures step = SomeStep(rng);
      cost.Observe({step, truth.Seconds(step) * Uniform(rng, 0.95, 1.05)});
    }
  };
  see(kHere, 64);
  EXPECT_LT(WorstError(cost.model(), kHere, rng), 0.05);
  // The processor has become half as fast.
  const CostModel slower{2 * kHere.fixed, 2 * kHere.per_mac, 2 * kHere.per_byte};
  see(slower, 160);
  EXPECT_LT(WorstError(cost.model(), slower, rng), 0.05);
}

TEST(LiveCost, StepsThatAreAllAlikeTellTheProportionOnly) {
  LiveCost cost(kElsewhere);
  const CostFeatures step{1e8, 4e6};
  for (int i = 0; i < 100; ++i) cost.Observe({step, (i % 2 == 0 ? 1.9 : 2.1) * kElsewhere.Seconds(step)});
  const double factor = cost.model().per_mac / kElsewhere.per_mac;
  EXPECT_TRUE(factor > 1.89 && factor < 2.11) << factor;
  EXPECT_NEAR(cost.model().fixed, factor * kElsewhere.fixed, 1e-12);
}

TEST(LiveCost, PassesOverWhatMakesNoSense) {
  LiveCost cost(kElsewhere);
  for (const double seconds : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()})
    cost.Observe({{1e8, 4e6}, seconds});
  EXPECT_EQ(cost.model().per_mac, kElsewhere.per_mac);
}

TEST(ProcessorShare, FollowsWhatWasGot) {
  ProcessorShare share(1);
  for (int i = 0; i < 5; ++i) share.Observe(0.3, 1, {});
  EXPECT_NEAR(share.Rate({}), 0.3, 0.03);
  for (int i = 0; i < 5; ++i) share.Observe(0.9, 1, {});
  EXPECT_NEAR(share.Rate({}), 0.9, 0.03);
}

TEST(ProcessorShare, KnowsAtOnceOfAnotherAllowance) {
  ProcessorShare share(1);
  for (int i = 0; i < 10; ++i) share.Observe(0.38, 1, 0.4);  // nearly all of it
  EXPECT_NEAR(share.Rate(0.4), 0.38, 0.01);
  EXPECT_NEAR(share.Rate(0.2), 0.19, 0.01);
  EXPECT_NEAR(share.Rate(0.8), 0.76, 0.02);
  // It gives no more than it allows, whatever was seen.
  for (int i = 0; i < 10; ++i) share.Observe(0.5, 1, 0.4);
  EXPECT_LE(share.Rate(0.4), 0.4);
}

TEST(ProcessorShare, PassesOverWhatMakesNoSenseAndNeverGivesNothing) {
  ProcessorShare share(0.5);
  share.Observe(0, 1, {});
  share.Observe(1, 0, {});
  share.Observe(std::nan(""), 1, {});
  EXPECT_EQ(share.Rate({}), 0.5);
  for (int i = 0; i < 100; ++i) share.Observe(1e-9, 1, {});
  EXPECT_GT(share.Rate({}), 0);
  EXPECT_GT(share.Rate(0.0), 0);
}

}  // namespace

}  // namespace tributary::inline policy
