#include "tributary/fleet/protocol/segments.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <functional>
#include <numeric>

#include "tributary/base/rng.h"

namespace tributary::inline protocol {
namespace {

using std::chrono::seconds;

const std::vector<Segment> kParameters = {{0, 16}, {16, 64}, {80, 16}, {96, 0}, {96, 32}};
const std::vector<Segment> kStatistics = {{0, 16}, {16, 0}, {16, 16}, {32, 16}, {48, 0}};

TransferPlan RandomPlan(Rng& rng, std::size_t units) {
  TransferPlan plan;
  for (std::size_t first = 0, unit = 0; unit < units; ++unit) {
    if (unit + 1 < units && rng.Uniform() < 0.5) continue;
    plan.push_back({first, unit});
    first = unit + 1;
  }
  return plan;
}

TEST(PlanOfEnds, IsTheOtherWayRoundOfEndsOf) {
  Rng rng(1);
  for (int i = 0; i < 100; ++i) {
    const TransferPlan plan = RandomPlan(rng, 5);
    EXPECT_EQ(PlanOfEnds(EndsOf(plan), 5), plan);
  }
  EXPECT_EQ(PlanOfEnds({}, 5), (TransferPlan{{0, 4}}));
  EXPECT_EQ(PlanOfEnds(std::vector<std::uint32_t>{1, 3}, 5), std::nullopt);
  EXPECT_EQ(PlanOfEnds(std::vector<std::uint32_t>{1, 5}, 5), std::nullopt);
  EXPECT_EQ(PlanOfEnds(std::vector<std::uint32_t>{0}, 0), std::nullopt);
}

TEST(SegmentArrivals, ASegmentIsThereWhenAllOfItsElementsAre) {
  SegmentArrivals arrivals(kParameters, kStatistics, TransferPlan{{0, 1}, {2, 3}, {4, 4}});
  EXPECT_FALSE(arrivals.Take(UpdatePart::kParameters, 0, 80, 4 * 80, seconds(1)));
  EXPECT_FALSE(arrivals.HasUnit(0));
  EXPECT_TRUE(arrivals.Take(UpdatePart::kStatistics, 0, 16, 4 * 16, seconds(2)));
  EXPECT_TRUE(arrivals.HasUnit(0));
  EXPECT_TRUE(arrivals.HasUnit(1));
  EXPECT_FALSE(arrivals.HasUnit(2));
  // Over a border: it completes the last segment, and not the one before it.
  EXPECT_TRUE(arrivals.Take(UpdatePart::kParameters, 80, 48, 4 * 48, seconds(3)));
  EXPECT_TRUE(arrivals.HasUnit(4));
  EXPECT_FALSE(arrivals.HasUnit(3));
  EXPECT_FALSE(arrivals.Take(UpdatePart::kStatistics, 32, 16, 4 * 16, seconds(4)));
  EXPECT_TRUE(arrivals.Take(UpdatePart::kStatistics, 16, 16, 4 * 16, seconds(5)));
  EXPECT_EQ(arrivals.first(), seconds(1));
  EXPECT_EQ(arrivals.all()[0].first, seconds(1));
  EXPECT_EQ(arrivals.all()[0].first_bytes, 320U);
  EXPECT_EQ(arrivals.all()[0].bytes, 4U * 96);
  EXPECT_EQ(arrivals.all()[0].last, seconds(2));
  EXPECT_EQ(arrivals.all()[1].first_bytes, 64U);
  EXPECT_EQ(arrivals.all()[1].last, seconds(5));
  EXPECT_EQ(arrivals.all()[2].floats, 32U);
}

TEST(SegmentArrivals, AgreesWithCountingElementByElement) {
  Rng rng(2);
  for (int i = 0; i < 300; ++i) {
    const TransferPlan plan = RandomPlan(rng, 5);
    SegmentArrivals arrivals(kParameters, kStatistics, plan);
    std::vector<bool> have_parameters(128), have_statistics(48);
    std::vector<std::pair<UpdatePart, Segment>> pieces;
    for (std::size_t at = 0; at < 128; at += 16) pieces.push_back({UpdatePart::kParameters, {at, 16}});
    for (std::size_t at = 0; at < 48; at += 16) pieces.push_back({UpdatePart::kStatistics, {at, 16}});
    for (std::size_t j = pieces.size(); j-- > 1;) std::swap(pieces[j], pieces[rng.Below(j + 1)]);
    for (const auto& [part, segment] : pieces) {
      arrivals.Take(part, segment.offset, segment.count, 4 * segment.count, seconds(1));
      auto& have = part == UpdatePart::kParameters ? have_parameters : have_statistics;
      std::fill_n(have.begin() + static_cast<std::ptrdiff_t>(segment.offset), segment.count, true);
      for (const LayerRun& run : plan) {
        bool all = true;
        for (std::size_t unit = run.first; unit <= run.last; ++unit) {
          for (std::size_t at = kParameters[unit].offset; at < kParameters[unit].end(); ++at)
            all &= have_parameters[at];
          for (std::size_t at = kStatistics[unit].offset; at < kStatistics[unit].end(); ++at)
            all &= have_statistics[at];
        }
        for (std::size_t unit = run.first; unit <= run.last; ++unit) ASSERT_EQ(arrivals.HasUnit(unit), all);
      }
    }
  }
}

const std::vector<float> kValues(128, 1.0F);
Update SomeUpdate() { return {kValues, {}, 7}; }

TEST(SegmentSender, SendsEverySegmentOnceFromTheLastToTheFirstAndOnlyWhenItIsReady) {
  Rng rng(3);
  for (int i = 0; i < 100; ++i) {
    const TransferPlan plan = RandomPlan(rng, 5);
    std::vector<std::atomic<bool>> ready(5);
    TransferPlan sent;
    bool early = false;
    SegmentSender sender(plan, [&](const LayerRun& run, const Update& update) {
      EXPECT_EQ(update.weight, 7);
      sent.push_back(run);
      for (std::size_t unit = run.first; unit <= run.last; ++unit) early |= !ready[unit];
      return OkStatus();
    });
    // As gradients come, but for a branch or two.
    std::vector<std::size_t> units = {4, 3, 2, 1, 0};
    std::swap(units[rng.Below(5)], units[rng.Below(5)]);
    for (const std::size_t unit : units) {
      ready[unit] = true;
      sender.Ready(SomeUpdate(), unit);
    }
    EXPECT_TRUE(sender.Finish().ok());
    EXPECT_FALSE(early);
    std::reverse(sent.begin(), sent.end());
    EXPECT_EQ(sent, plan);
    EXPECT_EQ(sender.queued().size(), plan.size());
  }
}

TEST(SegmentSender, SaysWhatWentWrongAndSendsNoMore) {
  int sent = 0;
  SegmentSender sender({{0, 0}, {1, 1}, {2, 4}}, [&](const LayerRun&, const Update&) {
    return ++sent < 2 ? OkStatus() : Unavailable("the link is down");
  });
  for (std::size_t unit = 5; unit-- > 0;) sender.Ready(SomeUpdate(), unit);
  EXPECT_EQ(sender.Finish().message(), "the link is down");
  EXPECT_EQ(sent, 2);
}

TEST(SegmentSender, CanBeGivenUp) {
  int sent = 0;
  {
    SegmentSender sender({{0, 2}, {3, 4}}, [&](const LayerRun&, const Update&) {
      ++sent;
      return OkStatus();
    });
    sender.Ready(SomeUpdate(), 2);
  }
  EXPECT_EQ(sent, 0);
}

}  // namespace
}  // namespace tributary::inline protocol
