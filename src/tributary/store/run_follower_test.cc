#include <gtest/gtest.h>

#include "tributary/store/run_record.h"
#include "tributary/store/testing_runs.h"

namespace tributary::inline store {
namespace {

using namespace std::chrono_literals;

TEST(RunFollower, AddsUpARun) {
  RunFollower follower({"slow", "fast"});
  WriteAll(follower, TestRun(4, 3));
  const RunRecord& run = follower.run();
  EXPECT_EQ(run.state, RunState::kFinished);
  EXPECT_EQ(run.ended_by, "rounds");
  EXPECT_EQ(run.what.seed, 7U);
  EXPECT_EQ(run.rounds, 4U);
  EXPECT_EQ(run.time, 40s);
  EXPECT_EQ(run.accuracy, 0.04);
  EXPECT_EQ(run.best_accuracy, 0.04);
  EXPECT_EQ(run.down, Bytes{1200});
  EXPECT_EQ(run.up, Bytes{120});
  EXPECT_DOUBLE_EQ(run.waiting_share().value(), 0.1);  // 3 of 30 seconds
  ASSERT_EQ(follower.device_count(), 3U);
  const DeviceRecord late = follower.device(1);
  EXPECT_EQ(late.group, "fast");
  EXPECT_EQ(late.missed, 4U);
  EXPECT_EQ(late.reason, "slow");
  EXPECT_EQ(late.transfer(), 8s);
  EXPECT_EQ(late.wait, 4s);
  EXPECT_EQ(late.round, RoundId{4});
  EXPECT_EQ(follower.changes().rounds.size(), 4U);
  EXPECT_EQ(follower.changes().evaluations.back().down, Bytes{1200});
  EXPECT_EQ(follower.changes().details.size(), 4U);
}

TEST(RunFollower, KeepsDetailsOfTheLastRoundsOnly) {
  RunFollower follower;
  WriteAll(follower, TestRun(10, 900));
  // Two rounds of 900 fit into 2,000, three do not.
  const auto& details = follower.changes().details;
  ASSERT_EQ(details.size(), 2U);
  EXPECT_EQ(details.front().round, RoundId{9});
  EXPECT_EQ(details.back().devices.size(), 900U);
  EXPECT_EQ(follower.changes().rounds.size(), 10U);
  // One is kept however large it is.
  RunFollower large;
  WriteAll(large, TestRun(2, 5000));
  EXPECT_EQ(large.changes().details.size(), 1U);
  // And the bound holds anew after a taking.
  follower.ClearChanges();
  WriteAll(follower, TestRun(2, 900));
  EXPECT_EQ(follower.changes().details.size(), 2U);
}

TEST(RunFollower, StartsOverWithARun) {
  RunFollower follower;
  WriteAll(follower, TestRun(4, 3));
  WriteAll(follower, TestRun(2, 1, /*finished=*/false));
  EXPECT_EQ(follower.run().state, RunState::kRunning);
  EXPECT_EQ(follower.run().rounds, 2U);
  EXPECT_EQ(follower.device_count(), 1U);
  EXPECT_TRUE(follower.changes().restarted);
  EXPECT_EQ(follower.changes().rounds.size(), 2U);
}

TEST(RunFollower, TheTestSetCountsWhereThereIsOne) {
  RunFollower follower;
  follower.Write({0s, RunStarted{}});
  follower.Write({1s, Evaluated{.round = {1}, .where = EvaluatedWhere::kDevices, .accuracy = 0.9}});
  EXPECT_EQ(follower.run().accuracy, 0.9);
  follower.Write({1s, Evaluated{.round = {1}, .where = EvaluatedWhere::kCentral, .accuracy = 0.5}});
  follower.Write({2s, Evaluated{.round = {2}, .where = EvaluatedWhere::kDevices, .accuracy = 0.95}});
  EXPECT_EQ(follower.run().accuracy, 0.5);
  EXPECT_EQ(follower.run().best_accuracy, 0.5);
}

TEST(RunFollower, HostileEventsTakeNoMemoryAndOverflowNothing) {
  RunFollower follower;
  follower.Write({TimePoint::max(), RunStarted{.experiment = std::string(1 << 20, 'x')}});
  EXPECT_EQ(follower.run().what.experiment.size(), RunFollower::kLongestText);
  for (int i = 0; i < 3; ++i) {
    follower.Write(
        {TimePoint::min(), DeviceFinished{.device = {~std::uint64_t{0}}, .wait = Duration::max()}});
    follower.Write(
        {TimePoint::min(), DeviceFinished{.device = {5}, .compute = Duration::max(), .up = {INT64_MAX}}});
    follower.Write(
        {TimePoint::min(),
         RoundFinished{.round = {~std::uint64_t{0}}, .duration = Duration::max(), .bytes_up = {INT64_MAX}}});
  }
  for (std::size_t i = 0; i < 2 * RunFollower::kMostNotes; ++i) follower.Write({0s, Note{"n"}});
  EXPECT_EQ(follower.changes().notes.size(), RunFollower::kMostNotes);
  EXPECT_EQ(follower.device_count(), 6U);
  EXPECT_EQ(follower.device(5).compute, Duration::max());
  EXPECT_EQ(follower.run().up, Bytes{INT64_MAX});
}

}  // namespace
}  // namespace tributary::inline store
