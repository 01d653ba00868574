#include "tributary/fleet/availability.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tributary/base/distributions.h"
#include "tributary/base/rng.h"

namespace tributary::inline fleet {
namespace {

using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr Duration kTick = microseconds(100);

// The oracle: walks in tiny steps and adds up what is done, knowing nothing of how the shares are stored.
std::optional<TimePoint> FinishByWalking(const Availability& availability, TimePoint start, Duration work,
                                         TimePoint give_up) {
  double left = static_cast<double>(work.count());
  for (TimePoint now = start; now < give_up; now += kTick) {
    if (left <= 0) return now;
    left -= availability.At(now) * static_cast<double>(kTick.count());
  }
  return std::nullopt;
}

void ExpectAgrees(const Availability& availability, TimePoint start, Duration work) {
  const TimePoint give_up = start + seconds(30);
  const auto walked = FinishByWalking(availability, start, work, give_up);
  const auto found = availability.Finish(start, work);
  if (!walked) {
    EXPECT_TRUE(!found || *found > give_up - 3 * kTick);
    return;
  }
  ASSERT_TRUE(found.has_value()) << ToSeconds(start) << " " << ToSeconds(work);
  // The walk overshoots by up to a tick; where the share changes within one, by as much again.
  EXPECT_LE(std::abs((*found - *walked).count()), 40 * kTick.count())
      << ToSeconds(start) << " " << ToSeconds(work);
}

Availability Make(AvailabilityKind kind, std::uint64_t seed = 1, DeviceId device = DeviceId{0}) {
  auto made = Availability::Make(std::move(kind), seed, device);
  EXPECT_TRUE(made.ok()) << made.status();
  return std::move(made).value();
}

std::shared_ptr<const Trace> MakeTrace(std::vector<Trace::Step> steps, Trace::After after) {
  auto made = Trace::Make(std::move(steps), after);
  EXPECT_TRUE(made.ok()) << made.status();
  return std::move(made).value();
}

const std::vector<Trace::Step> kSteps = {
    {seconds(0), 0.5}, {seconds(1), 0}, {milliseconds(2500), 1}, {seconds(3), 0.25}, {seconds(4), 0.75}};

TEST(Availability, ConstantStretchesWork) {
  EXPECT_EQ(Make(0.5).Finish(seconds(3), seconds(2)), seconds(7));
  EXPECT_EQ(Availability().Finish(seconds(3), Duration(12345)), seconds(3) + Duration(12345));
  EXPECT_EQ(Make(0.25).At(seconds(9)), 0.25);
}

TEST(Availability, NoWorkIsDoneAtOnce) {
  EXPECT_EQ(Make(0.5).Finish(seconds(3), Duration(0)), seconds(3));
  EXPECT_EQ(Make(MakeTrace({{seconds(0), 0}}, Trace::After::kHold)).Finish(seconds(3), Duration(0)),
            seconds(3));
  EXPECT_EQ(Make(RandomSteps{seconds(1), 0, 1}).Finish(seconds(3), Duration(0)), seconds(3));
}

TEST(Availability, TraceIsPiecewiseConstant) {
  const auto hold = MakeTrace(kSteps, Trace::After::kHold);
  EXPECT_EQ(hold->At(seconds(0)), 0.5);
  EXPECT_EQ(hold->At(seconds(1) - Duration(1)), 0.5);
  EXPECT_EQ(hold->At(seconds(1)), 0);
  EXPECT_EQ(hold->At(seconds(3)), 0.25);
  EXPECT_EQ(hold->At(seconds(400)), 0.75);
  const auto repeat = MakeTrace(kSteps, Trace::After::kRepeat);
  EXPECT_EQ(repeat->At(seconds(4)), 0.5);
  EXPECT_EQ(repeat->At(seconds(4 * 1000 + 2)), 0);
  EXPECT_EQ(MakeTrace(kSteps, Trace::After::kEnd)->At(seconds(4)), 0);
}

TEST(Availability, WorkEndsBeforeAnIdleStretchNotAfterIt) {
  const Availability trace = Make(MakeTrace(kSteps, Trace::After::kHold));
  EXPECT_EQ(trace.Finish(seconds(0), milliseconds(500)), seconds(1));
  EXPECT_EQ(trace.Finish(seconds(0), milliseconds(501)), milliseconds(2501));
  // Two whole passes of a recording that ends idle: done when its busy part is.
  const Availability repeat =
      Make(MakeTrace({{seconds(0), 1}, {seconds(1), 0}, {seconds(5), 0}}, Trace::After::kRepeat));
  EXPECT_EQ(repeat.Finish(seconds(0), seconds(2)), seconds(6));
}

TEST(Availability, TraceFinishAgreesWithWalking) {
  Rng rng(5);
  for (const auto after : {Trace::After::kHold, Trace::After::kRepeat, Trace::After::kEnd}) {
    const Availability trace = Make(MakeTrace(kSteps, after));
    for (int i = 0; i < 60; ++i) {
      ExpectAgrees(trace, FromSeconds(Uniform(rng, 0, 9)), FromSeconds(Uniform(rng, 0, 4)));
    }
  }
}

TEST(Availability, RandomStepsFinishAgreesWithWalking) {
  Rng rng(6);
  for (std::uint64_t device = 0; device < 40; ++device) {
    const Availability steps = Make(RandomSteps{milliseconds(70), 0.05, 0.9}, 3, DeviceId{device});
    ExpectAgrees(steps, FromSeconds(Uniform(rng, 0, 5)), FromSeconds(Uniform(rng, 0, 4)));
  }
}

TEST(Availability, RandomStepsDependOnSeedDeviceAndTimeAlone) {
  const RandomSteps kind{seconds(10), 0.2, 1.0};
  const Availability one = Make(kind, 7, DeviceId{3});
  const double late = one.At(seconds(1'000'000));
  EXPECT_EQ(one.At(seconds(15)), one.At(seconds(19)));
  EXPECT_NE(one.At(seconds(15)), one.At(seconds(20)));
  EXPECT_EQ(Make(kind, 7, DeviceId{3}).At(seconds(1'000'000)), late);
  EXPECT_NE(Make(kind, 7, DeviceId{4}).At(seconds(1'000'000)), late);
  EXPECT_NE(Make(kind, 8, DeviceId{3}).At(seconds(1'000'000)), late);
}

// Mean of 10,000 even draws from [0.2, 1]: 0.6 with a standard error of 0.0023; four of them.
TEST(Availability, RandomStepsAreSpreadEvenly) {
  const Availability steps = Make(RandomSteps{seconds(1), 0.2, 1.0}, 11);
  double sum = 0;
  for (int i = 0; i < 10'000; ++i) {
    const double share = steps.At(seconds(i));
    ASSERT_TRUE(share >= 0.2 && share < 1.0);
    sum += share;
  }
  EXPECT_NEAR(sum / 10'000, 0.6, 0.0092);
}

TEST(Availability, SaysWhenWorkIsNeverDone) {
  EXPECT_FALSE(Make(MakeTrace({{seconds(0), 1}, {seconds(1), 0}}, Trace::After::kHold))
                   .Finish(seconds(0), seconds(2)));
  EXPECT_FALSE(
      Make(MakeTrace({{seconds(0), 1}, {seconds(1), 1}}, Trace::After::kEnd)).Finish(seconds(0), seconds(2)));
  EXPECT_TRUE(
      Make(MakeTrace({{seconds(0), 1}, {seconds(1), 1}}, Trace::After::kEnd)).Finish(seconds(0), seconds(1)));
  EXPECT_FALSE(
      Make(MakeTrace({{seconds(0), 1}, {seconds(1), 1}}, Trace::After::kEnd)).Finish(seconds(2), seconds(1)));
  EXPECT_FALSE(Make(MakeTrace({{seconds(0), 0}, {seconds(1), 1}}, Trace::After::kRepeat))
                   .Finish(seconds(0), seconds(1)));
  EXPECT_FALSE(Make(1e-300).Finish(seconds(0), seconds(1)));
  EXPECT_FALSE(Make(RandomSteps{Duration(1), 0, 1e-300}).Finish(seconds(0), seconds(1)));
  EXPECT_FALSE(Make(RandomSteps{Duration::max(), 1e-300, 1e-300}).Finish(seconds(5), seconds(1)));
}

TEST(Availability, LongWorkOverAShortTraceIsAnsweredAtOnce) {
  const Availability trace =
      Make(MakeTrace({{Duration(0), 1}, {Duration(1), 0}, {Duration(2), 0}}, Trace::After::kRepeat));
  EXPECT_EQ(trace.Finish(seconds(0), seconds(1'000'000)), seconds(2'000'000) - Duration(1));
}

TEST(Availability, RefusesWhatIsNoShare) {
  const auto refused = [](AvailabilityKind kind) {
    const auto made = Availability::Make(std::move(kind), 1, DeviceId{0});
    return made.ok() ? std::string() : made.status().message();
  };
  EXPECT_EQ(refused(0.0), "a constant share must be above 0 and at most 1, found 0");
  EXPECT_NE(refused(std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(refused(RandomSteps{seconds(0), 0.1, 1}),
            "the period of random steps must be above 0, found 0 s");
  EXPECT_EQ(refused(RandomSteps{seconds(1), 0.9, 0.2}),
            "random steps need 0 ≤ low ≤ high ≤ 1 and a high above 0, found low 0.9 and high 0.2");
  EXPECT_NE(refused(RandomSteps{seconds(1), 0, 0}), "");
}

TEST(Trace, RefusesWhatIsNotInOrder) {
  const auto refused = [](std::vector<Trace::Step> steps, Trace::After after = Trace::After::kHold) {
    const auto made = Trace::Make(std::move(steps), after);
    return made.ok() ? std::string() : made.status().message();
  };
  EXPECT_EQ(refused({}), "the trace has no steps; it needs at least one, at time 0");
  EXPECT_EQ(refused({{seconds(1), 0.5}}), "step 0 of the trace is at 1 s; the first one must be at 0");
  EXPECT_EQ(refused({{seconds(0), 0.5}, {seconds(2), 1}, {seconds(2), 0}}),
            "step 2 of the trace is at 2 s, not after the one before it, at 2 s; times must rise");
  EXPECT_EQ(refused({{seconds(0), 1.5}}),
            "step 0 of the trace has the share 1.5; a share lies between 0 and 1");
  EXPECT_EQ(refused({{seconds(0), 1}}, Trace::After::kRepeat),
            "the trace has one step only, so it lasts no time; add the moment at which it ends");
}

}  // namespace
}  // namespace tributary::inline fleet
