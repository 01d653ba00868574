#include <gtest/gtest.h>

#include <cmath>

#include "tributary/base/distributions.h"
#include "tributary/policy/scheduling/testing_programmes.h"
#include "tributary/policy/scheduling/transfer_plan.h"

namespace tributary::inline policy {
namespace {

// Of every kind that has made a difference: continuous, with zeros, with many equal values, with one large layer.
PassProfile RandomProfile(Rng& rng, std::size_t layers) {
  const auto kind = rng.Below(4);
  const auto draw = [&](double scale) {
    if (kind == 1 && rng.Below(3) == 0) return 0.0;
    if (kind == 2) return scale * static_cast<double>(rng.Below(4));
    if (kind == 3 && rng.Below(6) == 0) return 20 * scale * Uniform(rng, 0, 1);
    return scale * Uniform(rng, 0, 1);
  };
  PassProfile profile;
  profile.setup = rng.Below(5) == 0 ? 0 : draw(std::pow(10, Uniform(rng, -2, 1)));
  const double ratio = std::pow(10, Uniform(rng, -1, 1));
  for (std::size_t i = 0; i < layers; ++i) {
    profile.transfer.push_back(draw(1));
    profile.compute.push_back(draw(ratio));
  }
  return profile;
}

TransferPlan PlanOfMask(std::uint32_t mask, std::size_t layers) {
  TransferPlan plan;
  std::size_t first = 0;
  for (std::size_t i = 0; i < layers; ++i) {
    if (i + 1 == layers || ((mask >> i) & 1U) != 0) {
      plan.push_back({first, i});
      first = i + 1;
    }
  }
  return plan;
}

// Over all cut sets, for those that keep the bound.
double Exhaustive(const PassProfile& profile, const SegmentBound& bound = {}) {
  const std::size_t layers = profile.transfer.size();
  double best = std::numeric_limits<double>::infinity();
  for (std::uint32_t mask = 0; mask < (1U << (layers - 1)); ++mask) {
    const TransferPlan plan = PlanOfMask(mask, layers);
    bool allowed = true;
    if (!bound.sizes.empty()) {
      for (const LayerRun& run : plan) {
        double size = 0;
        for (std::size_t i = run.first; i <= run.last; ++i) size += bound.sizes[i];
        allowed = allowed && (run.first == run.last || size <= bound.most);
      }
    }
    if (allowed) best = std::min(best, FinishTime(profile, plan));
  }
  return best;
}

void ExpectCovers(const TransferPlan& plan, std::size_t layers) {
  std::size_t next = 0;
  for (const LayerRun& run : plan) {
    ASSERT_EQ(run.first, next);
    ASSERT_GE(run.last, run.first);
    next = run.last + 1;
  }
  ASSERT_EQ(next, layers);
}

double Tolerance(double value) { return 1e-9 * std::max(1.0, value); }

TEST(OptimalPlan, EqualsExhaustiveSearch) {
  Rng rng(1);
  for (int i = 0; i < 4000; ++i) {
    const PassProfile profile = RandomProfile(rng, 1 + rng.Below(12));
    const TransferPlan plan = OptimalPlan(profile);
    ExpectCovers(plan, profile.transfer.size());
    const double best = Exhaustive(profile);
    ASSERT_NEAR(FinishTime(profile, plan), best, 1e-9 * best) << "profile " << i;
  }
}

TEST(OptimalPlan, EqualsExhaustiveSearchUnderABoundOnSegments) {
  Rng rng(2);
  for (int i = 0; i < 2000; ++i) {
    const PassProfile profile = RandomProfile(rng, 1 + rng.Below(10));
    SegmentBound bound;
    for (std::size_t layer = 0; layer < profile.transfer.size(); ++layer) {
      bound.sizes.push_back(static_cast<double>(rng.Below(5)));
    }
    bound.most = static_cast<double>(1 + rng.Below(8));
    const TransferPlan plan = OptimalPlan(profile, bound);
    ExpectCovers(plan, profile.transfer.size());
    const double best = Exhaustive(profile, bound);
    ASSERT_NEAR(FinishTime(profile, plan), best, 1e-9 * best) << "profile " << i;
  }
}

TEST(OptimalPlan, EqualsThePublishedProgrammesAtTheDepthOfResNet152) {
  Rng rng(3);
  for (int i = 0; i < 40; ++i) {
    const PassProfile profile = RandomProfile(rng, 152);
    const TransferPlan plan = OptimalPlan(profile);
    const double forward = PublishedForward(profile);
    ASSERT_NEAR(ForwardTimeline(profile, plan).finish, forward, Tolerance(forward));
    // The same plan, its segments pushed from the last to the first, is optimal backward for the same numbers.
    const double backward = PublishedBackward(profile);
    ASSERT_NEAR(BackwardTimeline(profile, plan).finish, backward, Tolerance(backward));
  }
}

TEST(OptimalPlan, IsNeverWorseThanAnyOtherStrategy) {
  Rng rng(4);
  for (int i = 0; i < 100'000; ++i) {
    const PassProfile profile = RandomProfile(rng, 1 + rng.Below(40));
    const double optimal = FinishTime(profile, OptimalPlan(profile));
    for (const TransferStrategy strategy : kTransferStrategies) {
      ASSERT_LE(optimal, FinishTime(profile, PlanTransfers(strategy, profile)) + Tolerance(optimal))
          << NameOf(strategy) << " at profile " << i;
    }
  }
}

TEST(PassTimeline, IsTheSameForwardAndSeenBackwardsInTime) {
  Rng rng(5);
  for (int i = 0; i < 1000; ++i) {
    const std::size_t layers = 1 + rng.Below(20);
    const PassProfile profile = RandomProfile(rng, layers);
    const TransferPlan plan = PlanOfMask(static_cast<std::uint32_t>(rng.Below(1U << (layers - 1))), layers);
    const PassTimeline forward = ForwardTimeline(profile, plan);
    const PassTimeline backward = BackwardTimeline(profile, plan);
    EXPECT_NEAR(forward.finish, FinishTime(profile, plan), Tolerance(forward.finish));
    EXPECT_NEAR(backward.finish, forward.finish, Tolerance(forward.finish));
    // A layer waits for its segment, a segment leaves after its layers, and neither link nor processor does two things.
    for (std::size_t s = 0; s < plan.size(); ++s) {
      for (std::size_t layer = plan[s].first; layer <= plan[s].last; ++layer) {
        ASSERT_GE(forward.layers[layer].begin, forward.transfers[s].end);
        ASSERT_LE(backward.layers[layer].end, backward.transfers[s].begin);
        if (layer == 0) continue;
        ASSERT_GE(forward.layers[layer].begin, forward.layers[layer - 1].end);
        ASSERT_GE(backward.layers[layer - 1].begin, backward.layers[layer].end);
      }
      if (s == 0) continue;
      ASSERT_GE(forward.transfers[s].begin, forward.transfers[s - 1].end);
      ASSERT_GE(backward.transfers[s - 1].begin, backward.transfers[s].end);
    }
  }
}

TEST(PlanTransfers, KeepsTheBoundInEveryStrategy) {
  Rng rng(6);
  for (int i = 0; i < 500; ++i) {
    const PassProfile profile = RandomProfile(rng, 1 + rng.Below(30));
    SegmentBound bound{std::vector<double>(profile.transfer.size(), 1.0), 3};
    for (const TransferStrategy strategy : kTransferStrategies) {
      const TransferPlan plan = PlanTransfers(strategy, profile, bound);
      ExpectCovers(plan, profile.transfer.size());
      for (const LayerRun& run : plan) EXPECT_LE(run.last - run.first, 2U);
    }
  }
}

TEST(IBatch, SendsWhatReleasedComputationCovers) {
  // The first layer arrives at 2 and computes until 12: until then two more layers fit (2 + 1 + 4 + 4 = 11), a third not.
  const PassProfile profile{1, {1, 4, 4, 4, 1}, {10, 1, 1, 1, 1}};
  EXPECT_EQ(PlanTransfers(TransferStrategy::kIBatch, profile),
            (TransferPlan{{0, 0}, {1, 2}, {3, 3}, {4, 4}}));
}

TEST(ParseTransferStrategy, NamesTheNearest) {
  EXPECT_EQ(*ParseTransferStrategy("ibatch"), TransferStrategy::kIBatch);
  const auto wrong = ParseTransferStrategy("optimum");
  ASSERT_FALSE(wrong.ok());
  EXPECT_NE(wrong.status().message().find("optimal"), std::string::npos);
}

}  // namespace
}  // namespace tributary::inline policy
