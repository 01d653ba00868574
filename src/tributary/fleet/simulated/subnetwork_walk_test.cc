#include <gtest/gtest.h>

#include <numeric>

#include "tributary/base/distributions.h"
#include "tributary/fleet/simulated/event_queue.h"
#include "tributary/fleet/simulated/step_charge.h"
#include "tributary/model/zoo.h"
#include "tributary/policy/dropout/testing_front.h"

namespace tributary::inline simulated {
namespace {

using std::chrono::milliseconds;

class SubnetworkWalkTest : public ::testing::Test {
 protected:
  SubnetworkWalkTest()
      : menu_(MenuOf(SubnetworkRuleNamed("pareto"))), menu_once_(MenuOf(SubnetworkRuleNamed("uniform"))) {}

  static DropoutMenu MenuOf(DropoutMethod method) {
    const Model model(BuildZooGraph({.name = "resnet8"}).value());
    // The first method takes from the front, the second from widths.
    return DropoutMenu::Make(model,
                             {.method = method, .front = testing::FrontFor(model, {0.9, 0.7, 0.5, 0.3, 0.1})})
        .value();
  }

  // Steps of these lengths on the whole network, in `pulls` and `pushes` segments of two layers.
  static SubnetworkWalk::Work WorkOf(std::vector<double> seconds, TimePoint until, bool segments) {
    SubnetworkWalk::Work work;
    const double first = seconds.front(), last = seconds.back();
    work.costs.forward = {first / 9, 2 * first / 9};
    work.costs.backward = {4 * last / 9, 2 * last / 9};
    work.plan = segments ? StepPlan{{{0, 0}, {1, 1}}, {{0, 0}, {1, 1}}, 0} : StepPlan{{{0, 1}}, {{0, 1}}, 0};
    work.seconds = std::move(seconds);
    work.until = until;
    return work;
  }
  static RoundChoice ChoiceFrom(const DropoutMenu& menu) {
    return RoundChoice(menu, {1, DeviceId{0}, RoundId{1}});
  }
  RoundChoice Choice() const { return ChoiceFrom(menu_); }
  static TimePoint WalkAll(SubnetworkWalk& walk, std::size_t parts, TimePoint begin) {
    for (std::size_t part = 0; part < parts; ++part) begin = walk.Part(part, begin);
    return begin;
  }

  const DropoutMenu menu_, menu_once_;
};

// The same, step by step and without segments: what is decided, and when the last step ends.
struct Naive {
  std::vector<std::uint32_t> chosen;
  TimePoint end{0};
  bool always_fitted = true;
};
Naive WalkNaively(const DropoutMenu& menu, const Availability& availability,
                  const std::vector<double>& seconds, TimePoint begin, TimePoint until) {
  Naive walk{{}, begin};
  for (std::size_t step = 0; step < seconds.size(); ++step) {
    const double slot = ToSeconds(until - walk.end) / static_cast<double>(seconds.size() - step);
    const auto takes = [&](std::size_t entry) {
      const auto end = availability.Finish(walk.end, FromSeconds(seconds[step] * menu.entries()[entry].cost));
      return ToSeconds(*end - walk.end);
    };
    std::size_t best = 0;
    for (std::size_t entry = 0; entry < menu.entries().size(); ++entry) {
      if (takes(entry) <= slot) best = entry;
    }
    walk.always_fitted = walk.always_fitted && takes(best) <= slot;
    walk.chosen.push_back(static_cast<std::uint32_t>(best));
    walk.end += FromSeconds(takes(best));
  }
  return walk;
}

TEST_F(SubnetworkWalkTest, DecidesAsTheRuleHasItAndIsInTimeWheneverSomethingFits) {
  Rng rng(5);
  int fitted = 0, missed = 0;
  std::set<std::uint32_t> seen;
  for (int trial = 0; trial < 400; ++trial) {
    const Availability availability =
        Availability::Make(RandomSteps{milliseconds(50 + rng.Below(1000)), 0.05, 1}, rng.Next(),
                           DeviceId{trial % 7U})
            .value();
    std::vector<double> seconds(1 + rng.Below(12));
    for (double& each : seconds) each = Uniform(rng, 0.05, 1);
    const TimePoint begin = FromSeconds(Uniform(rng, 0, 5));
    const double all = std::accumulate(seconds.begin(), seconds.end(), 0.0);
    const TimePoint until = begin + FromSeconds(all * Uniform(rng, 0.02, 3));
    const Naive naive = WalkNaively(menu_, availability, seconds, begin, until);
    for (const bool segments : {false, true}) {
      SubnetworkWalk walk(availability, WorkOf(seconds, until, segments), Choice());
      const TimePoint end = WalkAll(walk, segments ? 4 : 2, begin);
      // Rounding to nanoseconds, at each of a few moments, can tip a choice that just fits; it has not for this seed.
      ASSERT_EQ(walk.choice().chosen(), naive.chosen) << trial;
      EXPECT_NEAR(ToSeconds(end), ToSeconds(naive.end), 1e-7);
      if (naive.always_fitted) {
        EXPECT_LE(end, until + std::chrono::nanoseconds(50));
      }
    }
    seen.insert(naive.chosen.begin(), naive.chosen.end());
    fitted += naive.always_fitted;
    missed += naive.end > until;
  }
  EXPECT_EQ(seen.size(), menu_.entries().size());
  EXPECT_GT(fitted, 100);
  EXPECT_GT(missed, 10);
}

TEST_F(SubnetworkWalkTest, UsesTheTimeItHas) {
  // Half a processor, and time for 0.6 of the whole: between two entries all the time is used but for less than what is
  // between them.
  const Availability half = Availability::Make(0.5, 1, DeviceId{0}).value();
  const std::vector<double> seconds(40, 1.0);
  SubnetworkWalk walk(half, WorkOf(seconds, FromSeconds(48), false), Choice());
  const TimePoint end = WalkAll(walk, 2, TimePoint(0));
  EXPECT_LE(end, FromSeconds(48));
  EXPECT_GT(end, FromSeconds(44));
  EXPECT_NEAR(MeanMacs(menu_, walk.choice().chosen()), 0.6, 0.05);
  EXPECT_GT(std::set(walk.choice().chosen().begin(), walk.choice().chosen().end()).size(), 1U);
}

TEST_F(SubnetworkWalkTest, WithoutADeadlineEverythingIsTrainedAndWithoutAProcessorNothingEnds) {
  const Availability all;
  SubnetworkWalk walk(all, WorkOf({1, 1}, kNever, true), Choice());
  EXPECT_NEAR(ToSeconds(WalkAll(walk, 4, TimePoint(0))), 2, 1e-8);
  EXPECT_EQ(walk.choice().chosen(),
            std::vector<std::uint32_t>(2, static_cast<std::uint32_t>(menu_.entries().size() - 1)));
  EXPECT_NEAR(ToSeconds(walk.between()), 1, 1e-8);

  const auto trace = Trace::Make({{TimePoint(0), 1.0}, {FromSeconds(0.5), 0.0}}, Trace::After::kHold).value();
  const Availability stops = Availability::Make(trace, 1, DeviceId{0}).value();
  SubnetworkWalk stuck(stops, WorkOf({1, 1}, FromSeconds(100), false), Choice());
  EXPECT_EQ(WalkAll(stuck, 2, TimePoint(0)), kNever);
}

TEST_F(SubnetworkWalkTest, AMethodThatLooksOnceMissesWhatComesLater) {
  // A fast start, then a tenth.
  const auto trace = Trace::Make({{TimePoint(0), 1.0}, {FromSeconds(1), 0.1}}, Trace::After::kHold).value();
  const Availability falls = Availability::Make(trace, 1, DeviceId{0}).value();
  const std::vector<double> seconds(10, 1.0);
  SubnetworkWalk once(falls, WorkOf(seconds, FromSeconds(25), false), ChoiceFrom(menu_once_));
  EXPECT_GT(WalkAll(once, 2, TimePoint(0)), FromSeconds(25));
  SubnetworkWalk each(falls, WorkOf(seconds, FromSeconds(25), false), Choice());
  EXPECT_LE(WalkAll(each, 2, TimePoint(0)), FromSeconds(25));
}

}  // namespace
}  // namespace tributary::inline simulated
