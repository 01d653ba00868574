#include "tributary/fleet/simulated/step_charge.h"

#include <gtest/gtest.h>

#include "tributary/base/distributions.h"
#include "tributary/fleet/simulated/event_queue.h"
#include "tributary/fleet/simulated/testing_timeline.h"
#include "tributary/model/zoo.h"

namespace tributary::inline simulated {
namespace {

using std::chrono::seconds;

DeviceProfile SomeDevice(Rng& rng) {
  DeviceProfile profile;
  profile.compute = {Uniform(rng, 1e9, 1e10)};
  profile.uplink = {Uniform(rng, 1e6, 1e8)};
  profile.downlink = {Uniform(rng, 1e6, 1e8)};
  profile.round_trip = FromSeconds(Uniform(rng, 0, 0.1));
  profile.setup = FromSeconds(Uniform(rng, 0, 0.01));
  return profile;
}

struct Played {
  StepCosts costs;
  StepPlan plan;
  DeviceTask task;
  RoundTimes round;
};

class StepChargeTest : public testing::Test {
 protected:
  StepChargeTest() : model_(BuildZooGraph({.name = "resnet20"}).value()), charge_(model_) {}

  Played Play(const DeviceProfile& profile, const StepWork& work, TransferStrategy strategy) const {
    Played played;
    played.costs = charge_.Costs(profile, work);
    played.plan = StepPlanner({.strategy = strategy}, charge_.unit_bytes(), played.costs).plan();
    played.task = {.setup = profile.setup,
                   .round_trip = profile.round_trip,
                   .up = profile.uplink,
                   .down = profile.downlink};
    SegmentTask(played.plan, *charge_.unit_bytes(), played.task);
    played.task.compute = [parts = PartsOf(played.costs, played.plan)](std::size_t part, TimePoint begin) {
      return begin + parts[part];
    };
    const auto servers = MakeEvenServers(1, Bytes{1}, {});
    played.round = SimulateRound(servers, std::vector{played.task}, TimePoint(0), std::nullopt, 1);
    return played;
  }

  const Model model_;
  const StepCharge charge_;
};

TEST_F(StepChargeTest, APlanTakesWhatItPromisesWhereNobodyElseIs) {
  Rng rng(1);
  for (int i = 0; i < 100; ++i) {
    const DeviceProfile profile = SomeDevice(rng);
    const double first = static_cast<double>(1 + rng.Below(64));
    const double last = static_cast<double>(1 + rng.Below(64));
    const StepWork work{first, last, 3 * (first + last) + 30, 1.5};
    for (const TransferStrategy strategy : kTransferStrategies) {
      const Played played = Play(profile, work, strategy);
      // Half a nanosecond of rounding in each of some sixty events.
      EXPECT_NEAR(ToSeconds(played.round.end), played.plan.predicted, 1e-7);
      const StepObservation seen =
          ObservationOf(played.round.devices[0], Duration(0), played.plan, played.task, played.costs);
      EXPECT_NEAR(seen.seconds, played.plan.predicted, 1e-7);
      EXPECT_NEAR(seen.between, played.costs.between, 1e-7);
      for (std::size_t unit = 0; unit < seen.forward.size(); ++unit) {
        EXPECT_NEAR(seen.forward[unit], played.costs.forward[unit], 1e-8);
        EXPECT_NEAR(seen.backward[unit], played.costs.backward[unit], 1e-8);
      }
      StepPlanner planner({.strategy = strategy}, charge_.unit_bytes(), played.costs);
      EXPECT_FALSE(planner.Observe(seen));
    }
  }
}

TEST_F(StepChargeTest, TimesAddUpLessWhatWasHidden) {
  Rng rng(2);
  for (int i = 0; i < 50; ++i) {
    const DeviceProfile profile = SomeDevice(rng);
    const StepWork work{8, 8, 24 + 100 * rng.Uniform()};
    for (const TransferStrategy strategy : kTransferStrategies) {
      const Played played = Play(profile, work, strategy);
      const DeviceReport report =
          ReportOf(played.round.devices[0], Duration(0), FromSeconds(played.costs.between),
                   Busy{played.round.start, played.round.end});
      EXPECT_EQ(report.pull + report.compute + report.push - report.hidden + report.wait, played.round.end);
      EXPECT_EQ(report.wait, Duration(0));
      EXPECT_GE(report.hidden, Duration(0));
      EXPECT_LE(report.hidden, report.hideable + Duration(100));
      if (strategy == TransferStrategy::kSequential) {
        EXPECT_EQ(report.hidden, Duration(0));
      }
      // What the model of plans says is hidden: all transfers and all computing, less the time it takes.
      const TransferProfile costs = StepPlanner({}, charge_.unit_bytes(), played.costs).Profile();
      double busy = 0;
      for (const auto& [pass, plan] :
           {std::pair(costs.Forward(), played.plan.pull), std::pair(costs.Backward(), played.plan.push)}) {
        busy += pass.setup * static_cast<double>(plan.size()) - FinishTime(pass, plan);
        for (const double time : pass.transfer) busy += time;
        for (const double time : pass.compute) busy += time;
      }
      EXPECT_NEAR(ToSeconds(report.hidden), busy / 1000, 1e-6);
    }
  }
}

TEST(ReportOf, CutsOffWhatComesAfterTheRound) {
  DeviceTimes times{.device = {1}, .outcome = DeviceOutcome::kLate};
  times.pulls = {{seconds(0), seconds(2)}, {seconds(2), seconds(5)}};
  times.parts = {{seconds(2), seconds(4)}, {seconds(5), seconds(9)}, {seconds(9), seconds(20)}};
  times.pushes = {{seconds(20), seconds(30)}};
  times.settled = seconds(30);
  const Busy round{seconds(0), seconds(10)};
  const DeviceReport report = ReportOf(times, seconds(1), Duration(0), round);
  EXPECT_EQ(report.pull, seconds(5));
  EXPECT_EQ(report.compute, seconds(1 + 4 + 1));  // The first part waited a second for its stream.
  EXPECT_EQ(report.push, seconds(0));
  EXPECT_EQ(report.hidden, seconds(1));
  EXPECT_EQ(report.wait, seconds(0));
}

TEST(ReportOf, CountsWhatCrossesACutAsTransfers) {
  DeviceTimes times{.device = {1}, .outcome = DeviceOutcome::kArrived};
  times.pulls = {{seconds(0), seconds(2)}};
  times.parts = {{seconds(2), seconds(5)}, {seconds(12), seconds(14)}};
  times.ups = {{seconds(5), seconds(7)}};
  times.downs = {{seconds(10), seconds(12)}};
  times.pushes = {{seconds(14), seconds(17)}};
  times.settled = seconds(17);
  times.pulled = Bytes{1500};
  times.pushed = Bytes{1000};
  times.crossed_up = Bytes{700};
  const Busy round{seconds(0), seconds(20)};
  const DeviceReport report = ReportOf(times, Duration(0), Duration(0), round);
  EXPECT_EQ(report.pull, seconds(4));
  EXPECT_EQ(report.compute, seconds(5));
  EXPECT_EQ(report.push, seconds(5));
  EXPECT_EQ(report.hidden, seconds(0));
  EXPECT_EQ(report.wait, seconds(3 + 3));  // at the cut, and for the others' updates
  EXPECT_EQ(report.down, Bytes{1500});
  EXPECT_EQ(report.up, Bytes{1700});
  EXPECT_EQ(report.pull + report.compute + report.push + report.wait, round.end);
}

}  // namespace
}  // namespace tributary::inline simulated
